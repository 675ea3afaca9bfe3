// A session of ours that waits for a lock of somebody else, or for a standby, in words: who holds
// it, and what ends it. Pure. Neighbour: database/server/lockWaits.ts looks.

export interface LockWait {
  /** the relation, else the kind of lock */
  what: string;
  /** the server's number of the session that holds it; null: a prepared transaction */
  holder: number | null;
  user: string | null;
  application: string | null;
  /** how long its transaction is open; null where the server does not tell this role */
  openSeconds: number | null;
  /** not a lock: commits wait for a standby that does not answer */
  isForStandby: boolean;
}

export function lockWaitSentence(wait: LockWait): string {
  const { what, holder, user, application, openSeconds } = wait;
  if (wait.isForStandby) {
    return (
      `held up: what is written has waited for ${openSeconds} s for a standby that does not ` +
      'answer; bring it back, or take it out of synchronous_standby_names of the server'
    );
  }
  if (holder === null) {
    return (
      `held up: a prepared transaction has locked ${what}; end it: ` +
      'COMMIT PREPARED or ROLLBACK PREPARED by its gid in pg_prepared_xacts'
    );
  }
  const who = [application, user === null ? null : `as ${user}`].filter((one) => one !== null);
  const open = openSeconds === null ? '' : `, its transaction open for ${openSeconds} s,`;
  return (
    `held up: session ${holder} of the database (${who.join(' ')})${open} has locked ${what}; ` +
    'the work goes on when that session ends its transaction, or when somebody ends the session ' +
    `by pg_terminate_backend(${holder})`
  );
}
