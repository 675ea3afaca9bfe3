// Text as it may stand in XML and HTML. The sandbox writes both by hand and reads neither, so it
// needs no parser; every value that came from outside passes through here.

/** One element of an answer: its text, or its children. */
export type XmlElement = readonly [name: string, content: string | readonly XmlElement[]];

/** A document with root element `respon` (document, "Direct payment response"). */
export function responXml(elements: readonly XmlElement[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${elementXml(['respon', elements])}`;
}

/** Safe as text and as the value of a quoted attribute; what XML cannot say is left out. */
export function escapeMarkup(value: string): string {
  return value
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export function hiddenInput(name: string, value: string): string {
  return `<input type="hidden" name="${escapeMarkup(name)}" value="${escapeMarkup(value)}"/>`;
}

/** A page for people, of the sandbox itself. */
export function htmlPage(title: string, body: string): string {
  const style =
    'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}' +
    'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;' +
    'border-bottom:1px solid #ddd}form{display:inline}td input{width:6rem}' +
    '.money{text-align:right;font-variant-numeric:tabular-nums}';
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    `<title>${escapeMarkup(title)}</title><style>${style}</style></head>` +
    `<body><h1>${escapeMarkup(title)}</h1>${body}</body></html>`
  );
}

function elementXml([name, content]: XmlElement): string {
  const inner =
    typeof content === 'string' ? escapeMarkup(content) : content.map(elementXml).join('');
  return `<${name}>${inner}</${name}>`;
}
