// The keys with which it is signed what people decide. They lie outside of the database, so that
// whoever may write in its tables makes no decision that counts. A signature covers the fact as the
// chain digests it, and who stood behind it: a session of the console, or a command line. Ed25519.
// Pure; signatures/signaturesStore.ts keeps signatures, config/config.ts reads the keys.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** What a person who decides brings along, so that the decision can be told from a made-up one. */
export interface Proof {
  /** from where it was decided: the mark of a session, or a machine and its user */
  readonly session: string;
  /** 64 bytes over `signedWords` of the fact */
  sign(fact: DecidedFact): Buffer;
  /** Nothing of it is printed with whoever bears it. */
  toJSON(): undefined;
}

export interface DecidedFact {
  /** the kind of fact, as the chain names it */
  what: string;
  accountId: string;
  /** its text in the view `tieout.facts` */
  line: string;
}

export interface DecisionKeys {
  /** of the key that signs here, base64; null: decisions are only checked here */
  readonly publicKey: string | null;
  /** null: nobody can decide here */
  proofOf(session: string): Proof | null;
  isSigned(fact: DecidedFact, session: string, signature: Buffer): boolean;
}

/** Raw keys have no name of their algorithm: RFC 8410 puts these bytes before them. */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');

/** `key`, `publicKeys`: 32 bytes each, base64. Null where none is given. */
export function decisionKeys(given: {
  readonly key: string | null;
  readonly publicKeys: readonly string[];
}): DecisionKeys | null {
  if (given.key === null && given.publicKeys.length === 0) return null;
  const own = given.key === null ? null : privateKeyOf(given.key);
  const counts = [
    ...(own === null ? [] : [createPublicKey(own)]),
    ...given.publicKeys.map(publicKeyOf),
  ];
  return {
    publicKey: own === null ? null : rawPublic(own),
    proofOf: (session) =>
      own === null
        ? null
        : {
            session,
            sign: (fact) => sign(null, signedWords(fact, session), own),
            toJSON: () => undefined,
          },
    isSigned: (fact, session, signature) =>
      counts.some((key) => verify(null, signedWords(fact, session), key, signature)),
  };
}

/** One line of JSON, so that an auditor can make it again from what the database shows. */
function signedWords({ what, accountId, line }: DecidedFact, session: string): Buffer {
  return Buffer.from(JSON.stringify(['tieout', what, accountId, line, session]), 'utf8');
}

function privateKeyOf(base64: string): KeyObject {
  const der = Buffer.concat([PRIVATE_DER, Buffer.from(base64, 'base64')]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function publicKeyOf(base64: string): KeyObject {
  const der = Buffer.concat([PUBLIC_DER, Buffer.from(base64, 'base64')]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function rawPublic(key: KeyObject): string {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return der.subarray(PUBLIC_DER.length).toString('base64');
}
