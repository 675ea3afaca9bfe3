// The page of an order in the console, behind its address: for pages, sheets and texts alike. Pure.

export function orderPath(accountId: string, orderNo: string): string {
  return `/orders/${encodeURIComponent(accountId)}/${encodeURIComponent(orderNo)}`;
}
