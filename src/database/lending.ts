// Clients for long reads, each used by one reader at a time. A session learns our tables before it
// reads them, which costs more than most of these reads take: so one of the pool is lent that knows
// them already, as long as most of the pool is left for short statements. It must never starve the
// pool, nor leave a transaction open on a client that goes back to it. Neighbour: db.ts reads.

import type pg from 'pg';

export interface Lent {
  client: pg.ClientBase;
  /** Once, after it: `isWhole` says that the transaction may be ended; else the session is. */
  giveBack(isWhole: boolean): Promise<void>;
}

interface Lending {
  lend(): Promise<Lent>;
  /** A client of its own in any case. */
  lendOwn(): Promise<Lent>;
  /** Ends all sessions that are lent, whatever they are at. */
  endAll(): Promise<void>;
}

/** Of so many clients of a pool one may be lent: two of ten, none of a small pool. */
const LENT_ONE_OF = 5;

export function openLending(pool: pg.Pool, openOwn: () => Promise<pg.Client>): Lending {
  const lentMax = Math.floor(pool.options.max / LENT_ONE_OF);
  const lent = new Set<Lent>();
  let ofPool = 0;

  const lendOwn = async (): Promise<Lent> => {
    const client = await openOwn();
    return noted({ client, giveBack: () => client.end().catch(() => {}) });
  };
  const lendOfPool = async (): Promise<Lent> => {
    ofPool += 1;
    const client = await pool.connect().catch((error) => {
      ofPool -= 1;
      throw error;
    });
    return noted({
      client,
      giveBack: async (isWhole) => {
        const isEnded = isWhole && (await ends(client));
        ofPool -= 1;
        client.release(!isEnded);
      },
    });
  };
  const noted = ({ client, giveBack }: Lent): Lent => {
    const one: Lent = {
      client,
      giveBack: async (isWhole) => {
        if (lent.delete(one)) await giveBack(isWhole);
      },
    };
    lent.add(one);
    return one;
  };
  return {
    lend: () => (ofPool < lentMax && pool.idleCount > 0 ? lendOfPool() : lendOwn()),
    lendOwn,
    endAll: async () => {
      await Promise.all([...lent].map((one) => one.giveBack(false)));
    },
  };
}

/** Whether its transaction has ended, so that the next one finds none. */
function ends(client: pg.ClientBase): Promise<boolean> {
  return client.query('commit').then(
    () => true,
    () => false,
  );
}
