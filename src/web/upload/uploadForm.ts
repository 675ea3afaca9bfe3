// A form that brings a file, as browsers send one. Read by what Node itself has for it, whole,
// within a limit; only the routes that take a file read such forms at all, and only of who may.

import type { FastifyInstance, FastifyRequest } from 'fastify';

export const FILE_BYTES_MAX = 16_777_216;
/** For the other fields, and what stands between them. */
const REST_BYTES_MAX = 65_536;

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export function readUploads(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: FILE_BYTES_MAX + REST_BYTES_MAX },
    (request: FastifyRequest, body: Buffer) => formOf(request.headers['content-type'] ?? '', body),
  );
}

async function formOf(type: string, body: Buffer): Promise<Record<string, unknown>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => null);
  if (form === null) {
    throw Object.assign(new Error('a form that cannot be read'), { statusCode: 400 });
  }
  const names = [...new Set(form.keys())];
  const fields = names.map(async (name): Promise<[string, unknown]> => {
    const values = await Promise.all(form.getAll(name).map(given));
    return [name, values.length === 1 ? values[0] : values];
  });
  return Object.fromEntries(await Promise.all(fields));
}

async function given(value: string | File): Promise<string | UploadedFile> {
  if (typeof value === 'string') return value;
  return { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) };
}

/** The file of a form; null: none was chosen, or it is empty. */
export function fileOf(body: unknown): UploadedFile | null {
  const file = (body as { upload?: unknown } | null | undefined)?.upload;
  return isFile(file) && file.name !== '' && file.bytes.length > 0 ? file : null;
}

function isFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && 'bytes' in value;
}
