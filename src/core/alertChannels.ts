// Who is told from outside, each with the key of `notify` under which its address stands and what
// it is sent. Pure; outbox/ writes to them, alerts/ tells them.

/** `notify` of the configuration. */
interface Notify {
  readonly webhook: string | null;
  readonly webhookKey: string | null;
  readonly deadMansSwitch: string | null;
}

interface Channel {
  readonly key: 'webhook' | 'deadMansSwitch';
  /** what is new, in words; or each time that a run has finished, and no more than that */
  readonly gets: 'message' | 'ping';
  readonly signedBy: 'webhookKey' | null;
}

const CHANNELS = {
  webhook: { key: 'webhook', gets: 'message', signedBy: 'webhookKey' },
  switch: { key: 'deadMansSwitch', gets: 'ping', signedBy: null },
} as const satisfies Record<string, Channel>;

export type AlertChannel = keyof typeof CHANNELS;
export const ALERT_CHANNELS = Object.keys(CHANNELS) as readonly AlertChannel[];

export function addressOf(
  notify: Pick<Notify, Channel['key']>,
  channel: AlertChannel,
): string | null {
  return notify[CHANNELS[channel].key];
}

/** null: its messages bear no signature */
export function signingKeyOf(notify: Notify, channel: AlertChannel): string | null {
  const { signedBy } = CHANNELS[channel];
  return signedBy === null ? null : notify[signedBy];
}

/** As the configuration names it: `notify.webhook`. */
export function nameOfChannel(channel: AlertChannel): string {
  return `notify.${CHANNELS[channel].key}`;
}

export function getsOf(channel: AlertChannel): Channel['gets'] {
  return CHANNELS[channel].gets;
}
