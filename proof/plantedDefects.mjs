// Defects that somebody could build in on a bad day, each as a change to one file of the program
// and the check that must cry out: the simulator by its name, or a file of tests. A text that is no
// longer found means that the defect has to be planted anew: planting fails then.

const SIMULATOR = 'the simulator';

export const DEFECTS = [
  {
    name: 'a timeout counts as failed',
    file: 'src/send/outcomes.ts',
    change: ["kind: 'unknown',", "kind: 'rejected',"],
    by: SIMULATOR,
  },
  {
    name: 'a lost answer is sent again at once',
    file: 'src/send/sendBatch.ts',
    change: [
      'await recordUnknown(deps, sent, attemptId, posted.reason);',
      'await recordNotSent(deps.db, attemptId, posted.reason);',
    ],
    by: SIMULATOR,
  },
  {
    name: 'whoever finds a dead sender sends again',
    file: 'src/send/recoverAttempts.ts',
    change: [
      'await recordUnknown(deps, { entries }, attempt.attemptId, reason, its);',
      "await (await import('./batches/attemptsStore.js')).recordNotSent(deps.db, attempt.attemptId, reason);",
    ],
    by: SIMULATOR,
  },
  {
    name: 'one look without it proves that it did not happen',
    file: 'src/instructions/settle.sql',
    change: [
      "when state = 'accepted' then 'unknown'",
      "when state = 'accepted' then 'unknown'\n" +
        "      when state = 'unknown' and is_whole and gateway_state = from_state then 'rejected'",
    ],
    also: ["j.to_state = 'confirmed' then $", "j.to_state in ('confirmed', 'rejected') then $"],
    by: 'test/confirm/settle.test.ts',
  },
  {
    name: 'a partial refund is settled by a look',
    file: 'src/instructions/settle.sql',
    change: ['not is_disputed and is_whole', 'not is_disputed'],
    by: 'test/confirm/settle.test.ts',
  },
  {
    name: 'the claim is not written down',
    file: 'src/send/sendBatch.ts',
    change: [
      'const attempt = await claimBatch(tx, batch.batchId, claim, deps.runner);',
      "const attempt = claim.attemptId === '' ? await claimBatch(tx, batch.batchId, claim, deps.runner) : { xid: '1' };",
    ],
    by: SIMULATOR,
  },
  {
    name: 'the claim is gone on without its COMMIT',
    file: 'src/database/db.ts',
    change: [
      'await commit(client, connection);',
      'await commit(client, connection).catch(() => {});',
    ],
    by: 'test/database/db.test.ts',
  },
  {
    name: 'an answer without a clear refusal is a refusal',
    file: 'src/gateway/batches/answers.ts',
    change: ["!isAccepted && said.kind === 'error'", '!isAccepted'],
    by: 'test/gateway/answers.test.ts',
  },
  {
    name: 'an entry that the answer leaves out was refused',
    file: 'src/gateway/batches/prepareBatch.ts',
    change: [
      "if (answered === undefined) return unknownEntry(entry, 'the answer does not mention it');",
      "if (answered === undefined) return { ...unknownEntry(entry, ''), kind: 'rejected' };",
    ],
    by: 'test/gateway/prepareBatch.test.ts',
  },
  {
    name: 'answers are matched by position',
    file: 'src/gateway/batches/prepareBatch.ts',
    change: [
      'const answered = found.get(entryId(entry.transaction_id, entry.order_no));',
      'const answered = [...found.values()][sent.indexOf(entry)];',
    ],
    by: 'test/gateway/prepareBatch.test.ts',
  },
  {
    name: 'return_status alone is believed',
    file: 'src/gateway/batches/answers.ts',
    change: ["if (isAccepted && said.kind === 'fine')", 'if (isAccepted || !isAccepted)'],
    by: 'test/gateway/answers.test.ts',
  },
  {
    name: 'another return_status is not looked at',
    file: 'src/gateway/query/decode.ts',
    change: ["if (answer.return_status !== '1') {", "if (answer.return_status === 'never') {"],
    by: 'test/faults/moneyAnswers.test.ts',
  },
  {
    name: 'an entry nobody asked for is passed over',
    file: 'src/gateway/batches/prepareBatch.ts',
    change: ["if (!asked.has(id)) return 'the answer holds an entry that nobody asked for';", ''],
    by: 'test/gateway/prepareBatch.test.ts',
  },
  {
    name: 'an entry that comes twice is taken as it comes',
    file: 'src/gateway/batches/prepareBatch.ts',
    change: ["if (found.has(id)) return 'the answer holds an entry twice';", ''],
    by: 'test/gateway/prepareBatch.test.ts',
  },
  {
    name: 'amount and currency of an answer are not compared',
    file: 'src/gateway/batches/answers.ts',
    change: ['if (difference !== null) {', 'if (difference === undefined) {'],
    by: 'test/gateway/answers.test.ts',
  },
  {
    name: 'the next batch goes before the breaker has counted this one',
    file: 'src/send/sendBatch.ts',
    change: [
      'deps.turns(() => connectAndSend(deps, batch, account))',
      'connectAndSend(deps, batch, account)',
    ],
    by: 'test/faults/sendBatch.test.ts',
  },
  {
    name: 'a sender that slept writes all the same',
    file: 'src/send/sendBatch.ts',
    change: ['mayWrite: () => isInBudget(deps, began),', 'mayWrite: () => true,'],
    by: 'test/faults/sendBatch.test.ts',
  },
  {
    name: 'a clock that stands still while the machine sleeps is believed',
    file: 'src/send/sendBudget.ts',
    change: ['Math.max(steady - began.steady, wall - began.wall)', 'steady - began.steady'],
    by: 'test/faults/sendBatch.test.ts',
  },
  {
    name: 'a permit that a full disk refused is one all the same',
    file: 'src/send/journal/permitJournal.ts',
    change: ['for (const one of lost) one.failed(failure);', 'for (const one of lost) one.done();'],
    by: 'test/send/permitJournal.test.ts',
  },
  {
    name: 'a namesake on another machine is called gone',
    file: 'src/processes/identity.ts',
    change: ['if (other.host !== thisHost()) return null;', ''],
    by: 'test/processIdentity.test.ts',
  },
  {
    name: 'redirects are followed',
    file: 'src/gateway/transport/moneyTransport.ts',
    change: [
      "request.removeListener('close', onClose);",
      "request.removeListener('close', onClose);\n" +
        '        const to = answer.headers.location;\n' +
        '        if (to) {\n' +
        "          const again = { method: 'POST', body: new Uint8Array(sent.body), headers: sent.headers };\n" +
        '          const told = async (r: Response) => settle({ kind: "answered", status: r.status, contentType: null, contentEncoding: null, body: Buffer.from(await r.arrayBuffer()) });\n' +
        '          fetch(new URL(to, endpoint.origin), again).then(told, () => fail("lost"));\n' +
        '          return;\n        }',
    ],
    by: 'test/gateway/moneyTransport.test.ts',
  },
  {
    name: 'the transport tries again after a reset',
    file: 'src/gateway/transport/moneyTransport.ts',
    change: [
      "request.on('error', (error) => fail(connectionProblem(error)));",
      "request.on('error', (error) => {\n" +
        "        void fetch(endpoint.origin + endpoint.prefix + sent.path, { method: 'POST', body: new Uint8Array(sent.body), headers: sent.headers }).catch(() => {});\n" +
        '        fail(connectionProblem(error));\n      });',
    ],
    by: 'test/faults/moneyAnswers.test.ts',
  },
  {
    name: 'the ledger is not read again before sending',
    file: 'src/send/permit.ts',
    change: ["if (need === null) return 'no longer asked for';", 'if (need === null) return null;'],
    by: 'test/faults/sendBatch.test.ts',
  },
  {
    name: 'a refund sends the whole amount',
    file: 'src/send/wireEntry.ts',
    change: [
      'wire.refundAmount = wireText(deps, entry, entry.refundAmount);',
      'wire.refundAmount = wire.amount;',
    ],
    by: SIMULATOR,
  },
  {
    name: 'amounts are floats',
    file: 'src/core/money.ts',
    change: [
      'return BigInt(text.slice(0, -3) + text.slice(-2));',
      'return BigInt(Math.trunc(Number(text) * 100));',
    ],
    by: SIMULATOR,
  },
  {
    name: 'an unknown is told to nobody',
    file: 'src/compare/updateBreaks.sql',
    change: [
      'cross join unnest(v.kinds) as kind',
      "cross join unnest(array_remove(v.kinds, 'outcome_unknown')) as kind",
    ],
    by: SIMULATOR,
  },
  {
    name: 'accepted counts as money moved',
    file: 'src/total/currencyTotals.sql',
    change: ["((i.state = 'confirmed' and i.settled_run_id = $1)", "((i.state = 'confirmed')"],
    by: SIMULATOR,
  },
  {
    name: 'accepted needs no look',
    file: 'src/instructions/settle.sql',
    change: ["when state = 'accepted' then 'unknown'", "when state = 'accepted' then 'confirmed'"],
    by: 'test/confirm/settle.test.ts',
  },
  {
    name: 'a cancel is proven by a capture',
    file: 'src/core/instructions/instruction.ts',
    change: ["after: ['cancelled'] }", "after: ['cancelled', 'captured'] }"],
    by: 'test/faults/moneyAnswers.test.ts',
  },
  {
    name: 'a dispute that comes after the plan is not asked about',
    file: 'migrations/0115_disputes.sql',
    change: [
      'select exists (select from tieout.disputed_money() d',
      'select false and exists (select from tieout.disputed_money() d',
    ],
    also: ['or exists (select', 'or false and exists (select'],
    by: SIMULATOR,
  },
];
