// What a person can do about an instruction that is unknown, or refused: say what the gateway
// really did, or have it planned again.

import type { Sheet } from '../../../instructions/instructionSheet.js';
import { Form } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';

const FINDINGS = [
  ['happened', 'it happened'],
  ['not_happened', 'it did not happen'],
] as const;

export function Resolve({ visit, pick, sheet }: { visit: Visit; pick: string; sheet: Sheet }) {
  return (
    <Form action="/instructions/resolve" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>What the gateway really did</legend>
        <input type="hidden" name="id" value={pick} />
        <label>
          Finding
          <select name="finding" required>
            <option value="">choose</option>
            {FINDINGS.map(([value, words]) => (
              <option value={value} selected={visit.typed('finding') === value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Reference in the portal
          <input
            name="reference"
            size={24}
            maxLength={1000}
            required
            value={visit.typed('reference')}
            placeholder={sheet.nextReference ?? ''}
          />
        </label>
        <label>
          Reason
          <input name="words" size={36} maxLength={1000} required value={visit.typed('words')} />
        </label>
        <button type="submit">Resolve: nothing is sent by it</button>
      </fieldset>
    </Form>
  );
}

export function Replan({ visit, pick }: { visit: Visit; pick: string }) {
  return (
    <Form action="/instructions/replan" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Have it planned again</legend>
        <input type="hidden" name="id" value={pick} />
        <label>
          Reason
          <input name="words" size={40} maxLength={1000} value={visit.typed('words')} />
        </label>
        <button type="submit">Plan it again: the next night decides anew</button>
      </fieldset>
    </Form>
  );
}
