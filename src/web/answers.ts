// What a page answered, put on the wire: a rendered page, a redirect to an address of ours, a file
// that streams. Owns the frame around a page. Neighbour: problems.tsx for what went wrong.

import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionRow } from '../access/sessionsStore.js';
import { thisMachine } from '../processes/identity.js';
import { frameOf } from './frame.js';
import { renderPage } from './layout/layout.js';
import { answerProblem } from './layout/problems.js';
import type { Answer, ConsoleDeps } from './visit.js';

export interface Answered {
  session: SessionRow | null;
  answer: Answer;
  csrf: string;
  /** why the form was refused that one comes back to */
  problem?: string | null;
}

export async function sendAnswer(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, answer, csrf, problem }: Answered,
): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'page': {
      const frame = {
        ...(await frameOf(deps, session, csrf)),
        ...answer,
        problem: problem ?? null,
      };
      const html = renderPage(frame, answer.body);
      return reply
        .code(answer.status ?? 200)
        .type('text/html; charset=utf-8')
        .send(html);
    }
    case 'redirect':
      return reply.redirect(answer.to, 303);
    case 'notFound':
      return answerProblem(deps, request, reply, 404, session);
    case 'refused':
      return answerProblem(deps, request, reply, answer.status, session, answer.words);
    case 'text':
      await answer.taken();
      return reply
        .header('content-disposition', `attachment; filename="${answer.name}"`)
        .type(answer.type)
        .send(answer.text);
    case 'file':
      return sendFile(deps, request, reply, session, answer);
  }
}

/** Where the folder of reports is not shared by the hosts that write and this one. */
function elsewhereWords(host: string | null): string | undefined {
  const own = thisMachine();
  if (host === null || host === own) return undefined;
  return (
    `It was written on host ${host}, and this host (${own}) does not see it: ` +
    'take it there, or have reports.dir shared by all hosts.'
  );
}

/** The path comes from the database; it must still lie in the folder of reports, links resolved. */
async function sendFile(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  session: SessionRow | null,
  file: Answer & { kind: 'file' },
): Promise<FastifyReply> {
  const folder = await realpath(deps.config.reports.dir).catch(() => null);
  const path = await realpath(file.path).catch(() => null);
  if (folder === null || path === null || !path.startsWith(folder + sep)) {
    return answerProblem(deps, request, reply, 404, session, elsewhereWords(file.host));
  }
  const { size } = await stat(path);
  if (BigInt(size) !== file.bytes) {
    const words = `the file on disk is not the one that was written (${size} bytes)`;
    return answerProblem(deps, request, reply, 409, session, words);
  }
  await file.taken();
  return reply
    .header('content-disposition', `attachment; filename="${file.name}"`)
    .header('content-length', size)
    .type(file.type)
    .send(createReadStream(path));
}
