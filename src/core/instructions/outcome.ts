// What became of one instruction, as the shop is told (docs/CONTRACT.md section 4): the row that
// the store reads, the export writes and the columns of reports/outcomes.ts show. Plain data;
// amounts are text, instants are Date.

export interface OutcomeRow {
  /** grows by one, and by more after a put-back; a reader resumes after the highest it saw */
  seq: bigint;
  accountId: string;
  orderNo: string | null;
  refundId: string | null;
  operation: string;
  amount: string | null;
  currency: string | null;
  state: string;
  gatewayReference: string | null;
  at: Date;
}
