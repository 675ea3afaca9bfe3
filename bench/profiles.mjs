// What the profiles of a run say in a few lines: the functions with the most time at work of
// their own and those that allocate the most, with their file; and both by where the code is from.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOP = 12;
const MB = 1024 * 1024;

export function printProfiles(folder) {
  const files = readdirSync(folder);
  const last = (ending) => files.filter((name) => name.endsWith(ending)).at(-1);
  const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const [times, bytes] = [last('.cpuprofile'), last('.heapprofile')];
  if (times) print('at work', timesOf(read(times)), (ms) => `${ms.toFixed(0)} ms`);
  if (bytes) print('allocated', bytesOf(read(bytes)), (size) => `${(size / MB).toFixed(0)} MB`);
}

/** Milliseconds of each function's own; while nothing runs the processor is free. */
function timesOf({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const found = samples.map((id, at) => [byId.get(id), timeDeltas[at] / 1000]);
  return found.filter(([frame]) => frame.functionName !== '(idle)');
}

function bytesOf({ head }) {
  const found = [];
  const waiting = [head];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    found.push([node.callFrame, node.selfSize]);
    waiting.push(...node.children);
  }
  return found;
}

function print(title, found, words) {
  const all = found.reduce((sum, [, value]) => sum + value, 0);
  const share = (value) => `${((100 * value) / all).toFixed(1)} %`;
  process.stdout.write(`\n${title}: ${words(all)}\n`);
  for (const name of [(frame) => nameOf(frame), (frame) => originOf(frame)]) {
    for (const [key, value] of most(found, name)) {
      process.stdout.write(`  ${key.padEnd(66)} ${words(value).padStart(9)} ${share(value)}\n`);
    }
    process.stdout.write('\n');
  }
}

function most(found, name) {
  const sums = new Map();
  for (const [frame, value] of found) {
    const key = name(frame);
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP);
}

function nameOf(frame) {
  const { functionName, lineNumber } = frame;
  const place = placeOf(frame);
  return `${functionName || 'anonymous'}${place === '' ? '' : ` ${place}:${lineNumber + 1}`}`;
}

/** A library, the platform, or a room of ours. */
function originOf(frame) {
  const place = placeOf(frame);
  const [, library] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place) ?? [];
  if (library) return library;
  if (place === '') return frame.functionName.startsWith('(') ? frame.functionName : 'native';
  return place.startsWith('node:') ? 'node' : place.split('/').slice(0, -1).join('/');
}

function placeOf({ url }) {
  return url
    .replace(/^.*\/node_modules\//, 'node_modules/')
    .replace(/^file:.*\/dist\//, '')
    .replace(/^file:\/\//, '');
}
