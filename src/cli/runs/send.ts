// `tieout send`: what people approved since the run is sent now, with workers of its own, instead
// of waiting for a running worker or the next run.

import { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/exitCodes.js';
import { brakeAndCure } from '../../core/instructions/breaker.js';
import { holdLabel, waitingState } from '../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../core/instructions/instruction.js';
import type { SentInstruction } from '../../instructions/instructionsStore.js';
import { sendApproved } from '../../night/sendApproved.js';
import { activeBrakes } from '../../send/batches/sendingStatusStore.js';
import { elsewhereNotices, waitNotices } from '../../send/stops.js';
import { configuredAccounts } from '../accounts.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, withApp } from '../context.js';
import type { Line } from '../terminal.js';
import { columns, filled, stateWord } from '../terminal.js';
import { noticeLines } from './noticeLines.js';

/** As for a run (docs/CONTRACT.md section 1): unsettled 4; refused, or held once more, 3. */
const UNSETTLED: ReadonlySet<string> = new Set(['planned', 'queued', 'sending', 'unknown']);
const TO_LOOK_AT: ReadonlySet<string> = new Set(['rejected', 'held']);

export function sendCommand(): Command {
  return new Command('send')
    .description('send what was approved since the run, after a fresh look')
    .option('--account <id>', 'only this account; may be given again', collect, [])
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      filled(
        '\nExit codes: 0 done; 1 failed; 3 the gateway refused some, or they wait for a person ' +
          'again; 4 some are not settled.',
      ),
    )
    .action(async (flags: { account: string[] }, command: Command) => {
      await withApp(
        command,
        async (app) => {
          const accountIds = configuredAccounts(app, flags.account);
          const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
          // Who named no account means whatever waits.
          const elsewhere = flags.account.length === 0 ? await elsewhereNotices(app) : [];
          if (wantsJson(command)) {
            const told = elsewhere.map(({ accountId, text }) => ({ accountId, text }));
            printJson({ instructions: sent, elsewhere: told });
          } else {
            const stops = sent.length === 0 ? await stopLines(app) : await leftLines(app, sent);
            const head = sent.length === 0 && elsewhere.length > 0 ? [] : sentLines(sent);
            printLines([...head, ...stops, ...noticeLines(elsewhere)]);
          }
          return elsewhere.length > 0 ? EXIT.incomplete : exitOf(sent);
        },
        { isWork: true },
      );
    });
}

function exitOf(sent: readonly SentInstruction[]): ExitCode {
  // Accepted is not shown yet; of a payout no look shows more.
  const isUnsettled = ({ state, operation }: SentInstruction): boolean =>
    UNSETTLED.has(state) || (state === 'accepted' && operation !== 'payout');
  if (sent.some(isUnsettled)) return EXIT.incomplete;
  return sent.some(({ state }) => TO_LOOK_AT.has(state)) ? EXIT.differs : EXIT.done;
}

function sentLines(sent: readonly SentInstruction[]): Line[] {
  if (sent.length === 0) return ['Nothing that was approved waits to be sent.'];
  const rows = sent.map((one) => [
    `#${one.instructionId}`,
    stateWord(one.state, waitingState(one.state, one.reason)),
    one.operation,
    instructionMoney({ ...one, amount: one.money }),
    one.accountId,
    one.orderNo,
    one.reason === null ? '' : `(${holdLabel(one.reason)})`,
  ]);
  return columns(rows, [3]);
}

/** Why what was to go still waits. */
async function leftLines(app: App, sent: readonly SentInstruction[]): Promise<Line[]> {
  const left = sent.filter(({ state }) => state === 'queued');
  const accountIds = [...new Set(left.map(({ accountId }) => accountId))];
  return noticeLines(await waitNotices(app, accountIds));
}

/** Where nothing waited: what would keep it, such as a freeze that came of this very look. */
async function stopLines({ db }: App): Promise<Line[]> {
  const brakes = await activeBrakes(db);
  return brakes.map((one) => ({ text: brakeAndCure(one), tone: 'bad' }));
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}
