// What a test may let go wrong with one request: a small set of the ways in which a real gateway
// or the network fails. A fault never changes what an operation does, only whether it happens and
// what the caller gets to see of it. Decided by a function that the starter hands in.

/** What a fault function is told of a request. */
export interface FaultRequest {
  /** 1 for the first request on this operation since the start. */
  readonly number: number;
  /** The last part of the path, such as `capture` or `retrievalTrans`. */
  readonly operation: string;
  readonly body: string;
}

export type FaultAction =
  /** The connection is reset, before or after the effect. */
  | { readonly kind: 'drop'; readonly when: 'before' | 'after' }
  /** An HTTP error, before or after the effect. */
  | { readonly kind: 'status'; readonly status: number; readonly when: 'before' | 'after' }
  /** 200 with a page for people instead of the answer. */
  | { readonly kind: 'html' }
  /** Half of the answer, then the connection is reset. */
  | { readonly kind: 'truncate' }
  /** The first entry is missing, comes twice, or shows another amount. */
  | { readonly kind: 'entry_missing' | 'entry_twice' | 'wrong_amount' };

export type FaultPlan = (request: FaultRequest) => FaultAction | null;

/** An answer whose entries can still be told apart. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly head: string;
  readonly entries: readonly string[];
  readonly tail: string;
}

const PAGE = '<!doctype html><title>Maintenance</title><p>Please come back later.</p>';

export function bareAnswer(status: number, contentType: string, text: string): Answer {
  return { status, contentType, head: text, entries: [], tail: '' };
}

/** What the caller sees of an answer under a fault of its content. */
export function distort(answer: Answer, fault: FaultAction): Answer {
  const [first, ...rest] = answer.entries;
  switch (fault.kind) {
    case 'status':
      return bareAnswer(fault.status, 'text/html', PAGE);
    case 'html':
      return bareAnswer(200, 'text/html', PAGE);
    case 'entry_missing':
      return { ...answer, entries: rest };
    case 'entry_twice':
      return first === undefined ? answer : { ...answer, entries: [first, ...answer.entries] };
    case 'wrong_amount':
      if (first === undefined) return answer;
      return { ...answer, entries: [first.replace(/"amount":"\d+/, '$&9'), ...rest] };
    case 'drop':
    case 'truncate':
      return answer;
  }
}
