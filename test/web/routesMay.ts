// Who is meant to reach each route of the console, written down apart from the program: the roles,
// and what somebody with such a role for one account finds of another one.

import type { Role } from '../../src/core/access.js';

export interface Expected {
  roles: readonly Role[];
  /**
   * `none`: needs the role everywhere; `whole`: the page is of the other account alone; `rows`: it
   * names a row of it; `list`: a list that leaves the other account out
   */
  ofOther: 'none' | 'whole' | 'rows' | 'list';
}

const ANY: readonly Role[] = ['viewer', 'finance', 'operator', 'approver', 'admin'];
const WORK: readonly Role[] = ['finance', 'operator'];
const TAKE: readonly Role[] = ['finance', 'operator', 'approver', 'admin'];

export const ROUTES_MAY: Readonly<Record<string, Expected>> = {
  'GET /': { roles: ANY, ofOther: 'list' },
  'GET /nights/:date': { roles: ANY, ofOther: 'list' },
  'GET /nights/:date/changes': { roles: ANY, ofOther: 'list' },
  'GET /nights/:date/statement': { roles: ANY, ofOther: 'list' },
  'GET /nights/:date/statement/lines': { roles: ANY, ofOther: 'whole' },
  'GET /nights/:date/statement/lines.csv': { roles: TAKE, ofOther: 'whole' },
  'GET /nights/:date/statement/books': { roles: ANY, ofOther: 'whole' },
  'GET /nights/:date/statement/books.csv': { roles: TAKE, ofOther: 'whole' },
  'GET /breaks.csv': { roles: TAKE, ofOther: 'list' },
  'GET /breaks': { roles: ANY, ofOther: 'list' },
  'GET /breaks/causes': { roles: ANY, ofOther: 'list' },
  'GET /breaks/all/assign': { roles: WORK, ofOther: 'list' },
  'POST /breaks/all/assign': { roles: WORK, ofOther: 'rows' },
  'GET /breaks/all/waive': { roles: ['finance', 'approver'], ofOther: 'list' },
  'POST /breaks/all/waive': { roles: ['finance', 'approver'], ofOther: 'rows' },
  'GET /breaks/all/reopen': { roles: ['finance', 'approver'], ofOther: 'list' },
  'POST /breaks/all/reopen': { roles: ['finance', 'approver'], ofOther: 'rows' },
  'GET /breaks/:id': { roles: ANY, ofOther: 'rows' },
  'POST /breaks/note': { roles: WORK, ofOther: 'rows' },
  'POST /breaks/assign': { roles: WORK, ofOther: 'rows' },
  'POST /breaks/waive': { roles: ['finance', 'approver'], ofOther: 'rows' },
  'POST /breaks/reopen': { roles: ['finance', 'approver'], ofOther: 'rows' },
  'GET /approvals': { roles: ANY, ofOther: 'list' },
  'POST /approvals/approve': { roles: ['approver'], ofOther: 'rows' },
  'POST /approvals/reject': { roles: ['approver'], ofOther: 'rows' },
  'GET /instructions/all/approve': { roles: ['approver'], ofOther: 'list' },
  'POST /instructions/all/approve': { roles: ['approver'], ofOther: 'rows' },
  'GET /instructions/all/reject': { roles: ['approver'], ofOther: 'list' },
  'POST /instructions/all/reject': { roles: ['approver'], ofOther: 'rows' },
  'GET /instructions/all/resolve': { roles: ['operator'], ofOther: 'list' },
  'POST /instructions/all/resolve': { roles: ['operator'], ofOther: 'rows' },
  'GET /instructions': { roles: ANY, ofOther: 'list' },
  'GET /instructions/:id': { roles: ANY, ofOther: 'rows' },
  'POST /instructions/resolve': { roles: ['operator'], ofOther: 'rows' },
  'POST /instructions/replan': { roles: ['operator'], ofOther: 'rows' },
  'GET /authorisations': { roles: ANY, ofOther: 'list' },
  'GET /brake': { roles: ANY, ofOther: 'list' },
  'POST /brake/on': { roles: ['operator', 'admin'], ofOther: 'rows' },
  'POST /brake/off': { roles: ['operator', 'admin'], ofOther: 'rows' },
  'GET /days': { roles: ANY, ofOther: 'list' },
  'GET /days/:account/:date': { roles: ANY, ofOther: 'whole' },
  'GET /days/all/close': { roles: ['finance'], ofOther: 'list' },
  'POST /days/all/close': { roles: ['finance'], ofOther: 'rows' },
  'GET /days/all/lock': { roles: ['finance'], ofOther: 'list' },
  'POST /days/all/lock': { roles: ['finance'], ofOther: 'rows' },
  'POST /days/close': { roles: ['finance'], ofOther: 'rows' },
  'POST /days/lock': { roles: ['finance'], ofOther: 'rows' },
  'POST /days/reopen': { roles: ['finance'], ofOther: 'rows' },
  'GET /settlement': { roles: ANY, ofOther: 'list' },
  'POST /settlement/check': { roles: ['finance'], ofOther: 'rows' },
  'GET /settlement/check': { roles: ['finance'], ofOther: 'whole' },
  'POST /settlement/import': { roles: ['finance'], ofOther: 'rows' },
  'POST /settlement/report': { roles: TAKE, ofOther: 'none' },
  'GET /settlement/rows': { roles: ANY, ofOther: 'whole' },
  'GET /settlement/rows.csv': { roles: TAKE, ofOther: 'whole' },
  'GET /settlement/:account/:batch': { roles: ANY, ofOther: 'whole' },
  'GET /search': { roles: ANY, ofOther: 'list' },
  'GET /orders/:account/:orderNo': { roles: ANY, ofOther: 'whole' },
  'GET /reports': { roles: ANY, ofOther: 'list' },
  'GET /reports/:id/file': { roles: TAKE, ofOther: 'rows' },
  'POST /reports/decisions/check': { roles: ['finance', 'operator', 'approver'], ofOther: 'rows' },
  'GET /reports/decisions/check': { roles: ['finance', 'operator', 'approver'], ofOther: 'whole' },
  'POST /reports/decisions/do': { roles: ['finance', 'operator', 'approver'], ofOther: 'rows' },
  'GET /jobs': { roles: ['operator'], ofOther: 'none' },
  'POST /nights/again': { roles: ['operator'], ofOther: 'none' },
  'POST /jobs/retry': { roles: ['operator'], ofOther: 'none' },
  'POST /jobs/discard': { roles: ['operator'], ofOther: 'none' },
  'GET /activity': { roles: TAKE, ofOther: 'none' },
  'GET /audit': { roles: TAKE, ofOther: 'none' },
  'POST /audit/check': { roles: TAKE, ofOther: 'none' },
  'POST /reports/make': { roles: TAKE, ofOther: 'none' },
  'POST /reports/rewrite': { roles: TAKE, ofOther: 'none' },
  'POST /settings/invite': { roles: ['admin'], ofOther: 'none' },
  'POST /settings/disable': { roles: ['admin'], ofOther: 'none' },
  'POST /settings/enable': { roles: ['admin'], ofOther: 'none' },
  'GET /settings': { roles: ['operator', 'admin'], ofOther: 'none' },
};
