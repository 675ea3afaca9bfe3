// Of every key of the settings, as a run keeps them, and of the profile: can a change of it let
// money go that waited before, and as what change is it then held? A key that is not in the table
// fails a test, so that whoever adds one says it here. Pure. Neighbour: freeingChange.ts compares.

import type { FreeingChange } from './freeingChange.js';

type Bearing = { readonly frees: FreeingChange['kind'] } | { readonly freesNot: string };

const frees = (kind: FreeingChange['kind']): Bearing => ({ frees: kind });
const because = (freesNot: string): Bearing => ({ freesNot });

const PLACE = because('where something lies, or is reached');
const OTHER = because('an account that a database does not know is not sent for at first');
const DOORBELL = because('a queue decides nothing: every job reads the database');
const SECRET = because('it proves who speaks, and is no leave to send');
const WHEN = because('when a night is, not what it may do');
const BREAK = because('a break, or none, is told; what an order needs is asked without it');
const KEPT = because('what is over is kept longer, or shorter');
const SETTLED = because('settlement compares and tells; nothing is sent by it');
const TOLD = because('whom a person or a program reaches, and what they are told');
const PEOPLE = because('what people do, by when and by whose hand, not what goes without them');
const RISK = because('a risk is taken by name; of what may go nothing is said');
const ASKED = because('how the gateway is asked, not what; what it could not be is asked later');
const BELIEVED = because('an answer that was not believed is asked for anew, and says what is so');
const READ = because(
  'what an answer means: nobody sends who would read it otherwise than the plan',
);
const SHOWN = because('it is shown beside an order');
const TRIED = because('by it a person tries a call, and no night');

/** As `describeConfig` names them; `*` is any account or operation. */
export const SETTING_KEYS: Readonly<Record<string, Bearing>> = {
  file: PLACE,
  environment: frees('merchant'),
  'database.kind': OTHER,
  'database.url': OTHER,
  'queue.kind': DOORBELL,
  'queue.url': DOORBELL,
  dataDir: PLACE,
  'gateway.baseUrl': because('another address of the same merchant; test or live is environment'),
  'gateway.profileFile': PLACE,
  'gateway.profileSha256': because('it stands for the profile, whose keys are PROFILE_KEYS'),
  'gateway.proxy': PLACE,
  'accounts[].merchantId': frees('merchant'),
  'accounts[].accountId': because('an account of another name has nothing that waits'),
  'accounts[].signingKey': SECRET,
  'accounts[].previousSigningKey': SECRET,
  'accounts[].liveFrom': frees('live_from'),
  'authorisations.*.validHours': TOLD,
  'authorisations.*.warnHours': TOLD,
  'schedule.cron': WHEN,
  'schedule.timezone': WHEN,
  'schedule.cutOff': WHEN,
  'schedule.resumeUntil': WHEN,
  'reconcile.lookbackDays': because('what is looked at again was matched, and needs nothing'),
  'reconcile.graceHours': BREAK,
  'reconcile.tolerance.below': BREAK,
  'reconcile.tolerance.above': BREAK,
  'reconcile.tolerance.partsPerMillion': BREAK,
  'reconcile.staleAuthorisationDays': BREAK,
  'operations.mode.*': frees('policy'),
  'operations.approveAbove.*': frees('policy'),
  'operations.maxPerRun.*.count': frees('limit'),
  'operations.maxPerRun.*.amount': frees('limit'),
  'operations.preflightMinutes': because('what was looked at too long ago is looked at, and goes'),
  'operations.resendAfterHours': frees('resend'),
  'reports.dir': PLACE,
  'reports.keepDays': KEPT,
  'retention.evidenceMonths': KEPT,
  'settlement.from': SETTLED,
  'settlement.settleDays': SETTLED,
  'settlement.arriveDays': SETTLED,
  'settlement.holidays': SETTLED,
  'settlement.reference': SETTLED,
  'settlement.counterparty': SETTLED,
  'settlement.bankAccounts': SETTLED,
  'settlement.tariff': SETTLED,
  'settlement.inbox': PLACE,
  'settlement.files': SETTLED,
  'days.secondPerson': PEOPLE,
  'breaks.dueDays': PEOPLE,
  'decisions.key': PEOPLE,
  'decisions.publicKeys': PEOPLE,
  'web.host': PLACE,
  'web.port': PLACE,
  'web.metricsToken': SECRET,
  'web.address': PLACE,
  'web.tls.cert': PLACE,
  'web.tls.key': PLACE,
  'web.proxies': TOLD,
  'web.notifications.secret': SECRET,
  'web.notifications.from': TOLD,
  'notify.webhook': TOLD,
  'notify.webhookKey': SECRET,
  'notify.deadMansSwitch': TOLD,
  'notify.security': TOLD,
  'notify.heads': TOLD,
  exceptions: RISK,
};

/** As `profileOrigins` names them; a map is one key. */
export const PROFILE_KEYS: Readonly<Record<string, Bearing>> = {
  'signing.algorithm': ASKED,
  'signing.key': ASKED,
  'signing.separator': ASKED,
  'signing.pairs': ASKED,
  'signing.sort': ASKED,
  'signing.output': ASKED,
  'signing.inBody': ASKED,
  'signing.headers': ASKED,
  'signing.fields': ASKED,
  'signing.responses': BELIEVED,
  'signing.responseMode': BELIEVED,
  'signing.responseFields': BELIEVED,
  'query.select': ASKED,
  'query.orderList.field': ASKED,
  'query.orderList.separator': ASKED,
  'query.window.from': ASKED,
  'query.window.to': ASKED,
  'query.window.format': ASKED,
  'query.window.timezone': ASKED,
  'query.window.page': ASKED,
  'query.window.firstPage': ASKED,
  'query.window.size': ASKED,
  'query.found': frees('query_result'),
  'statuses.payment': frees('payment_status'),
  'statuses.recurring': SHOWN,
  'statuses.risk': TRIED,
  'results.accepted': READ,
  'payments.notDone': TRIED,
  'payments.accepted': TRIED,
  bodies: ASKED,
  siteField: TRIED,
  'transactionDate.timezone': SHOWN,
  'reviewFlags.accept': READ,
  'reviewFlags.reject': READ,
  partialCapture: frees('partial_capture'),
  refundReasonTag: ASKED,
  currencies: frees('currency'),
  'payout.unit': frees('payout_unit'),
  'payout.statuses.done': READ,
  'payout.statuses.pending': READ,
  'payout.statuses.failed': READ,
  'operations.searchRefund': TRIED,
  'operations.cancelSubscription': TRIED,
  'operations.optimisePaymentMethods': TRIED,
  'limits.timeoutMs': ASKED,
  'limits.requestsPerSecond': ASKED,
  'limits.concurrency': ASKED,
  'limits.maxResponseBytes': ASKED,
};
