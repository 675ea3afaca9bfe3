// A text that may name commands, for who has no shell: where the console does the same it is a
// link, else it is said whom to ask.

import { commandParts } from '../../core/text/commandWords.js';
import { withZonedTimes } from '../../core/text/zonedTimes.js';

/** `zone` where the text may name instants: they are said there. */
export function Said({ text, zone }: { text: string; zone?: string }) {
  const said = zone === undefined ? text : withZonedTimes(text, zone);
  return (
    <>
      {commandParts(said).map((part) => {
        if (part.kind === 'text') return part.text;
        if (part.place !== null) return <a href={part.place.path}>{part.place.label}</a>;
        return <Ask command={part.command} />;
      })}
    </>
  );
}

export function Ask({ command }: { command: string }) {
  return (
    <>
      (ask the operator to run: <code>{command}</code>)
    </>
  );
}
