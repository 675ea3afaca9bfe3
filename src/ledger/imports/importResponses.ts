// `tieout import responses`: stored XML answers of payments give orders of the ledger their
// transaction_id. Only an answer with the success code of the document counts, and only where the
// ledger has the same order, amount and currency. All files or none; no row is created. Neighbours:
// gateway/payments/paymentResponse.ts reads the XML, gateway/wire/sign.ts knows the signature.

import { createReadStream } from 'node:fs';
import { formatAmount } from '../../core/money.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type { Db } from '../../database/db.js';
import type { PaymentResponse } from '../../gateway/payments/paymentResponse.js';
import { parsePaymentResponse } from '../../gateway/payments/paymentResponse.js';
import { PAYMENT_RESPONSE_LIMITS } from '../../gateway/wire/responXml.js';
import { judgeSignature, responseSignatureOf } from '../../gateway/wire/sign.js';
import { requireFiles } from '../lines/inputText.js';
import type { ImportResult, ProblemList } from './importResult.js';
import { MAX_PROBLEMS, problemList, refusal } from './importResult.js';
import { RESPONSE_STATEMENTS } from './stagedResponsesStore.js';
import type { ImportDeps, ImportOptions } from './tableImport.js';
import { batchOf, countFates, requireTable, unknownAccountWarnings } from './tableImport.js';

/** Document, "Errors": a direct payment was processed with this code. */
const SUCCESS_CODE = '0000';

interface Tally {
  skipped: number;
  unsigned: number;
  /** with the key before */
  signedBefore: number;
  readonly unknownAccounts: Map<string, number>;
}

export async function importResponses(
  deps: ImportDeps,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  requireFiles(files);
  return deps.db.transaction(async (tx) => {
    await requireTable(tx, 'orders');
    await tx.query(RESPONSE_STATEMENTS.create);
    const problems = problemList();
    const tally = await stageResponses(deps, tx, files, problems);
    if (problems.problems.length > 0) return refusal(problems);
    await tx.query(RESPONSE_STATEMENTS.analyze);
    await tx.query(RESPONSE_STATEMENTS.lock);
    await refuseDisagreements(tx, files, problems);
    if (problems.problems.length > 0) return refusal(problems);
    const counts = await countFates(tx, RESPONSE_STATEMENTS.counts);
    if (!options.check) await tx.query(RESPONSE_STATEMENTS.apply);
    const warnings = warningsOf(tally);
    const { check } = options;
    return { kind: 'imported', check, ...counts, skipped: tally.skipped, warnings };
  });
}

async function stageResponses(
  deps: ImportDeps,
  tx: Db,
  files: readonly string[],
  problems: ProblemList,
): Promise<Tally> {
  const tally: Tally = { skipped: 0, unsigned: 0, signedBefore: 0, unknownAccounts: new Map() };
  const batch = batchOf(tx, RESPONSE_STATEMENTS.stage);
  for (const [fileNo, file] of files.entries()) {
    if (problems.isFull()) return tally;
    const response = parsePaymentResponse(await bytesOf(file));
    if (response.kind === 'refused') {
      problems.add(file, null, response.reason);
      continue;
    }
    if (response.resultCode !== SUCCESS_CODE) {
      tally.skipped += 1;
      continue;
    }
    const reason = responseProblem(deps, response, tally);
    if (reason !== null) problems.add(file, null, reason);
    else await batch.add([fileNo, ...stagedValues(response)]);
  }
  await batch.flush();
  return tally;
}

/** The file, or its beginning where it is larger than any response may be. */
async function bytesOf(file: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const reading: AsyncIterable<Buffer> = createReadStream(file, {
    end: PAYMENT_RESPONSE_LIMITS.maxBytes,
  });
  for await (const piece of reading) pieces.push(piece);
  return Buffer.concat(pieces);
}

function stagedValues(response: PaymentResponse): (string | null)[] {
  const { accountId, orderNo, currency, amount, transactionId } = response;
  return [accountId, orderNo, currency, formatAmount(amount), transactionId];
}

/** Why an accepted payment's answer cannot be taken; null where it can. */
function responseProblem(deps: ImportDeps, response: PaymentResponse, tally: Tally): string | null {
  if (response.transactionId === null) return 'has no transaction_id';
  const { signing } = deps.profile;
  const account = deps.accounts.find(({ accountId }) => accountId === response.accountId);
  if (account === undefined) {
    const name = maskCardNumbers(response.accountId);
    if (signing.responses === 'enforce') return `the configuration has no account ${name}`;
    tally.unknownAccounts.set(name, (tally.unknownAccounts.get(name) ?? 0) + 1);
    return null;
  }
  if (account.merchantId !== response.merchantId) {
    return `is of another merchant than account ${account.accountId} of the configuration`;
  }
  // An echoed signature is that of the request, which is not stored: nothing to compare with.
  if (signing.responses === 'off' || signing.responseMode === 'echo') return null;
  const { isGood, warning } = judgeSignature(account, response.signature, (key) =>
    responseSignatureOf(signing, 'authorise', key, response.values),
  );
  if (isGood && warning !== null) tally.signedBefore += 1;
  if (isGood) return null;
  if (signing.responses === 'enforce') return 'its signature is wrong or missing';
  tally.unsigned += 1;
  return null;
}

async function refuseDisagreements(
  tx: Db,
  files: readonly string[],
  problems: ProblemList,
): Promise<void> {
  const { rows } = await tx.query<{
    file_no: number;
    column: string;
    value: string;
    reason: string;
  }>(RESPONSE_STATEMENTS.refused, [MAX_PROBLEMS]);
  for (const row of rows) problems.add(files[row.file_no] ?? '', null, row);
}

function warningsOf(tally: Tally): string[] {
  const warnings = unknownAccountWarnings(tally.unknownAccounts);
  if (tally.unsigned > 0) {
    warnings.push(`${tally.unsigned} bear no signature that the profile can confirm`);
  }
  if (tally.signedBefore > 0) {
    warnings.push(`${tally.signedBefore} are signed with accounts[].previousSigningKey`);
  }
  return warnings;
}
