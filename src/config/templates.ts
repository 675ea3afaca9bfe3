// The text of the files that `tieout init` and `tieout demo` write. Owns their comments; what is
// not given here is the default of config.ts. It must never write a secret that it was not handed
// as a value. Neighbours: cli/setup/init.ts writes the texts, config.ts and
// gateway/document/profile.ts read them.

interface AccountValues {
  merchantId: string;
  accountId: string;
  /** The key itself, or a reference such as ${KEY_A1001}. */
  signingKey: string;
  /** ISO 8601 with zone; null: only observed. */
  liveFrom: string | null;
}

interface ConfigValues {
  environment?: 'test' | 'live';
  databaseUrl?: string;
  queueUrl?: string;
  dataDir?: string;
  baseUrl?: string;
  profile?: string;
  accounts: readonly AccountValues[];
  cron?: string;
  timezone?: string;
  cutOff?: string;
  resumeUntil?: string;
  lookbackDays?: number;
  graceHours?: number;
  modes?: Partial<Record<'capture' | 'cancel' | 'refund' | 'review' | 'payout', string>>;
  /** YAML of operations.approveAbove, on one line. */
  approveAbove?: string;
  reportsDir?: string;
  webPort?: number;
}

/** What `tieout init` starts from: one account on the sandbox, its key from the environment. */
export const INITIAL_VALUES: ConfigValues = {
  accounts: [
    {
      merchantId: 'M1001',
      accountId: 'A1001',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration.
      signingKey: '${KEY_A1001}',
      liveFrom: null,
    },
  ],
};

/** A commented tieout.yaml that loads as it is. */
export function renderConfig(values: ConfigValues): string {
  const modes = values.modes ?? {};
  return `# The configuration of tieout. Paths are relative to this file. A value may take an environment
# variable: \${NAME} stops with a message when it is missing or empty, \${NAME:-default} does not.
# A key that tieout does not know is an error. All values but the accounts are the defaults, unless
# they were chosen when the file was written.

# test or live; printed on every page and report.
environment: ${values.environment ?? 'test'}

# embedded: a real PostgreSQL under dataDir. Or the address of a server: postgres://..., or its parts,
# where a password is written as it is: { host: db.example, name: tieout, user: tieout, password: "\${DB_PASSWORD}" }
database: { url: ${quoted(values.databaseUrl ?? 'embedded')} }

# database: the queue lives on the same PostgreSQL. Or a Redis: redis://... or rediss://...
queue: { url: ${quoted(values.queueUrl ?? 'database')} }

# Where tieout keeps what it needs on this machine.
dataDir: ${quoted(values.dataDir ?? './var')}

# sandbox: a gateway that tieout starts itself; no money moves. For the real one: its address, and
# profile: ./gateway-profile.yaml after every line of that file was checked with the acquirer.
gateway: { baseUrl: ${quoted(values.baseUrl ?? 'sandbox')}, profile: ${quoted(values.profile ?? 'sandbox')} }

# Keep keys out of this file: let the environment bring them. An account without liveFrom is only
# observed. With it, tieout sends; refund and payout requests older than it count as done already.
# previousSigningKey: the key before, while the acquirer changes over and some answers still bear it.
# authorisation: how long a reservation can be captured, as agreed with the acquirer, such as
# { validHours: 168, warnHours: 24 }; whoever is to know is told at least warnHours before one lapses.
accounts:
${values.accounts.map(accountLine).join('\n')}

# A business date runs from cutOff to cutOff of the next day in timezone. The clock of \`tieout start\`
# begins the night at cron (avoid 02:00 to 03:00: some nights have no such hour).
schedule:
  cron: ${quoted(values.cron ?? '15 4 * * *')}
  timezone: ${quoted(values.timezone ?? 'Europe/Berlin')}
  cutOff: ${quoted(values.cutOff ?? '00:00')}
  resumeUntil: ${quoted(values.resumeUntil ?? '06:30')}

reconcile:
  lookbackDays: ${values.lookbackDays ?? 35} # matched orders younger than this are checked again
  graceHours: ${values.graceHours ?? 24} # how long an order may be pending or missing without a break
  tolerance: { below: "0.00", above: "0.00", percent: 0 } # silences a break, never moves money
  staleAuthorisationDays: 6 # reserved longer than this is a break

# Each is auto (sent at night), approve (waits for a person) or off (never planned).
operations:
  capture: ${modes.capture ?? 'approve'}
  cancel: ${modes.cancel ?? 'approve'}
  refund: ${modes.refund ?? 'approve'}
  review: ${modes.review ?? 'approve'}
  payout: ${modes.payout ?? 'approve'}
  # Larger ones wait even where auto is set, such as { refund: { EUR: "500.00" } }; a currency that
  # is not named for the operation then waits whatever its amount.
  approveAbove: ${values.approveAbove ?? '{}'}
  # Past it, oldest first, the rest of a run waits, such as
  # { refund: { count: 500, amount: { EUR: "20000.00" } } }.
  maxPerRun: {}
  preflightMinutes: 30 # how old the look at an order may be when money is sent
  # Hours after which an unknown capture or cancel is sent once more, if two complete looks after
  # that time show the old state. null: a person decides.
  resendAfterHours: null

reports: { dir: ${quoted(values.reportsDir ?? './var/reports')}, keepDays: 3650 }
# Whole months before this one in which what the gateway showed is kept; null: for ever. What was
# decided, sent and answered always is.
retention: { evidenceMonths: null }
# The console. metricsToken: what a monitor brings to read /metrics; null: only who is signed in may.
# address: how people reach it, such as https://tieout.example.com; links of the workbooks lead there.
# tls: { cert: FILE, key: FILE } in PEM, and the console speaks https itself.
# proxies: whose X-Forwarded-For is believed, such as [127.0.0.1] for a proxy with TLS on this machine.
# notifications: the door for what the gateway sends to notify_url, such as
# { secret: "\${NOTIFY_SECRET}", from: ["192.0.2.0/24"] } for https://.../notify/SECRET; with
# \`from\` alone https://.../notify; null: shut.
web:
  host: 127.0.0.1
  port: ${values.webPort ?? 8080}
  metricsToken: null
  address: null
  tls: null
  proxies: []
  notifications: null

# What became of the captured money, from this business date on: the acquirer's files are matched with
# what the gateway showed. Without this section nothing of it is kept. Working days are Monday to Friday
# in schedule.timezone less holidays.
# settlement:
#   from: "2026-11-01" # what was captured or settled before is history, and never missed
#   settleDays: 5 # working days until a movement without a settlement line is overdue
#   holidays: [] # such as ["2026-12-25"]
#   # What was agreed with the acquirer, such as
#   # { accountId: "A1001", type: captured, percent: "1.40", fixed: { EUR: "0.25" }, from: "2026-11-01", tolerance: "0.01" }
#   tariff: []
#   inbox: null # a folder whose files are imported by themselves
#   files: [] # how files of the inbox are read, such as { match: "settlement_*.csv", map: maps/acquirer.yaml }
#   # For statements of the bank, which are not taken yet: nothing reads these four.
#   arriveDays: 3 # working days until a payout without an entry at the bank is overdue
#   reference: null # a regular expression with one group that finds the batch in an entry's texts
#   counterparty: null # a regular expression that the payer's name must match
#   bankAccounts: [] # IBANs; entries of others are left out

# secondPerson: another person than closed a business day locks it, both signed in at the console.
days: { secondPerson: false }

# dueDays: so many working days (Monday to Friday less settlement.holidays) after a night first saw a
# break somebody has to have acted on it; it is shown as its due date, and as overdue from then on.
breaks: { dueDays: 5 }

# key: signs what people decide, so that whoever can write in the database makes no approval that is
# sent; one for all machines, kept in the environment, from: openssl rand -base64 32
# publicKeys: of keys whose signatures count too, such as the one before
# (tieout verify --decisions-key prints ours).
decisions: { key: null, publicKeys: [] }

# webhook: an address that is told by POST how the night ended, and what cannot wait.
# deadMansSwitch: one that is asked by GET whenever a night has finished, and raises the alarm itself
# when that does not come. Keep addresses that are secrets in the environment.
# webhookKey: signs each message, so that the receiver knows it for ours. security: sign-ins, lockouts,
# changes of people and roles, resumed sending and refused forms are told as well. heads: so are the
# signed ends of each run, for whoever keeps them elsewhere (docs/AUDIT.md).
notify: { webhook: null, deadMansSwitch: null, webhookKey: null, security: false, heads: false }

# What a live installation does although it should not, by name and with the reason, such as
# { plainQueue: "one rack, one wire" }; \`tieout doctor\` says which names there are reason for.
exceptions: {}
`;
}

function accountLine(account: AccountValues): string {
  const { merchantId, accountId, signingKey, liveFrom } = account;
  const ids = `merchantId: ${quoted(merchantId)}, accountId: ${quoted(accountId)}`;
  const live = liveFrom === null ? 'null' : quoted(liveFrom);
  const rest = `liveFrom: ${live}, previousSigningKey: null, authorisation: null`;
  return `  - { ${ids}, signingKey: ${quoted(signingKey)}, ${rest} }`;
}

/** A text as YAML reads it back unchanged: its double-quoted form takes every JSON string. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A commented gateway-profile.yaml: the profile of the sandbox, to be answered by the acquirer. */
export const PROFILE_TEMPLATE = `# What the interface document of the gateway leaves open, answered. These are the answers of the
# sandbox. Before a real gateway is used, each one has to be asked of the acquirer: signing and
# statuses above all. A map that is given here replaces the default map whole.

# How encryption_data is made. Algorithms: sha256, sha512, hmac-sha256, hmac-sha512; the result is
# lower-case hex of the UTF-8 text.
signing:
  algorithm: sha256
  key: append # append or prepend: where the key joins the values; an hmac takes it as its key
  separator: "" # between the values, and between them and the key
  # Where name=value is signed: { join: "=", keyName: null, skipEmpty: false }. keyName: the key is
  # a pair, too; skipEmpty: empty values are left out.
  pairs: null
  sort: false # true: by name, whatever the order below
  output: hex # hex, hex-upper or base64
  inBody: true # false: no encryption_data in the body, the signature stands in a header
  headers: {} # { X-Signature: "{signature}", Authorization: "Bearer {key}" }; {merchantId}, {accountId}
  # What is signed, in order. A path with [] takes all entries before the next path begins, and
  # "orders[].{a,b}" takes a and b of each entry in turn; a value that is absent counts as empty.
  fields:
    default: [merchant_id, account_id]
    authorise: [merchant_id, account_id, order_no, currency, amount]
    checkout: [merchant_id, account_id, order_no, currency, amount]
    capture: [merchant_id, account_id, "capture_orders[].transaction_id", "capture_orders[].amount"]
    cancel: [merchant_id, account_id, "cancel_orders[].transaction_id", "cancel_orders[].amount"]
    review: [merchant_id, account_id, "review_orders[].transaction_id", "review_orders[].amount"]
    refund: [merchant_id, account_id, "refund_orders[].transaction_id", "refund_orders[].refund_amount"]
    payout: [merchant_id, account_id, request_id, payment_currency, payment_amount]
  responses: warn # off, warn or enforce: a response whose signature is wrong or missing
  responseMode: signed # signed: over responseFields; echo: the signature of the request comes back
  responseFields: { default: [merchant_id, account_id, return_status] }

# How the orders of a query are named: order_list, window (by time) or none.
query:
  select: order_list
  # An order number that contains the separator cannot be asked for and is reported as such.
  orderList: { field: order_no, separator: "," }
  window:
    from: date_from
    to: date_to
    format: yyyyMMddHHmmss
    timezone: UTC
    page: page_no
    firstPage: 1
    size: page_size
  found: ["1"] # query_result of an entry that is one

# What each payment_status means. A code that is not listed moves no money and is reported. States:
# pending, in_review, authorised, captured, cancelled, declined, partially_refunded, refunded.
statuses:
  payment:
    "1000": pending
    "1500": in_review
    "2000": authorised
    "3000": captured
    "4000": cancelled
    "5000": declined
    "6000": partially_refunded
    "6500": refunded
  # recurring_status of a subscription: active or ended. risk_action: accept, review or reject.
  recurring: { "1": active }
  risk: { ACCEPT: accept }

# Payments: HTTP statuses (400, 404) that surely mean that nothing was done; without them such an
# answer is unknown. order_status that goes with the result 0000.
payments: { notDone: [], accepted: ["1"] }

# capture_status, cancel_status, review_status and refund_status of an accepted entry.
results: { accepted: ["1"] }

# json, json-as-form (JSON text sent as form-urlencoded) or form, by operation.
bodies: { default: json, retrievalTrans: form }

siteField: "the service" # the wire name of the merchant's web site
transactionDate: { timezone: UTC }
reviewFlags: { accept: "1", reject: "2" }
partialCapture: false # true: less than the authorised amount may be captured
refundReasonTag: true # a short tag in refund_reason, by which a person finds it in the portal
currencies: {} # decimals of currencies that do not fit two decimals, such as { KWD: 3 }
payout:
  unit: null # major or minor; until it is known every payout waits for approval
  # What status of its answer means; in no list: nothing, and nobody can say what became of it.
  statuses: { done: ["COMPLETED"], pending: [], failed: [] }

# Operations of which only the name is known: { path: /v1/..., body: json } once the acquirer says.
operations: { searchRefund: null, cancelSubscription: null, optimisePaymentMethods: null }

limits: { timeoutMs: 30000, requestsPerSecond: 20, concurrency: 8, maxResponseBytes: 8388608 }
`;
