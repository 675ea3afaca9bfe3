// Who may be at the gateway, of the batches of one process. So many are there at a time as the
// profile's limits.concurrency says, from the first byte to the last; a few more get ready
// meanwhile, so that the gateway need not wait for our own books. Whoever is ready waits for its
// turn, but not for long: hence nobody gets ready ahead while the gateway answers slowly.

export interface Turns {
  /** Getting ready and being there, from the connection to the answer. */
  prepare<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Being there. `ask` is the last question before it: asked while the answer is taken in of
   * whoever leaves the place, and once more when that left something to be troubled about, or took
   * long. Null: the turn did not come in time, and nothing was done.
   */
  atGateway<A, T>(
    waitMs: number,
    ask: () => Promise<A>,
    work: (asked: A, told: Told) => Promise<T>,
  ): Promise<T | null>;
}

/** What whoever is at the gateway tells. */
export interface Told {
  /** The answer has come; what is left is to keep and to read it. */
  answered(): void;
  /** It was read, and nothing in it changes what others may do. */
  isClear(): void;
}

/** Three quarters as many again get ready; a process that is killed leaves these in doubt, too. */
const AHEAD_SHARE = 0.75;
/** A gateway that takes longer is slow: nobody gets ready before it has a turn. */
export const QUICK_MS = 500;

/** What was asked longer ago is asked once more. */
export const FRESH_MS = 25;

interface Waiter {
  end: (isTurn: boolean) => void;
  askAhead: () => void;
}

/** `monotonic`: a clock in milliseconds that never goes back. */
export function openTurns(size: number, monotonic: () => number): Turns {
  const ahead = Math.ceil(size * AHEAD_SHARE);
  const gate = openGate(size, monotonic);
  const toPrepare: (() => void)[] = [];
  let preparing = 0;

  const admit = (): void => {
    while (toPrepare.length > 0 && preparing < size + (gate.isQuick() ? ahead : 0)) {
      preparing += 1;
      toPrepare.shift()?.();
    }
  };
  return {
    prepare: async (work) => {
      const admitted = new Promise<void>((begin) => toPrepare.push(begin));
      admit();
      await admitted;
      try {
        return await work();
      } finally {
        preparing -= 1;
        admit();
      }
    },
    atGateway: gate.atGateway,
  };
}

interface Gate extends Pick<Turns, 'atGateway'> {
  isQuick(): boolean;
}

/** The places at the gateway, and the line before them. */
function openGate(size: number, monotonic: () => number): Gate {
  const line: Waiter[] = [];
  /** the earliest first */
  const there = new Set<{ began: number; hasAnswer: boolean; isClear: boolean }>();
  let free = size;
  let lastTookMs: number | null = null;
  /** of those there, how many have their answer and will leave */
  let leaving = 0;
  let troubles = 0;

  const askAhead = (): void => {
    for (const waiter of line.slice(0, leaving)) waiter.askAhead();
  };
  const enter = (): Told & { leave: () => void } => {
    const one = { began: monotonic(), hasAnswer: false, isClear: false };
    there.add(one);
    return {
      answered: () => {
        lastTookMs = monotonic() - one.began;
        if (!one.hasAnswer) leaving += 1;
        one.hasAnswer = true;
        askAhead();
      },
      isClear: () => {
        one.isClear = true;
      },
      leave: () => {
        there.delete(one);
        if (one.hasAnswer) leaving -= 1;
        if (!one.isClear) troubles += 1;
        const next = line.shift();
        // A turn is handed on directly, so that nobody can slip in between.
        if (next) next.end(true);
        else free += 1;
      },
    };
  };
  return {
    isQuick: () => {
      if (lastTookMs === null || lastTookMs > QUICK_MS) return false;
      const [earliest] = there;
      return earliest === undefined || monotonic() - earliest.began <= QUICK_MS;
    },
    atGateway: async (waitMs, ask, work) => {
      const question = openQuestion(ask, () => ({ now: monotonic(), troubles }));
      if (free > 0) free -= 1;
      else {
        const turn = turnOf(line, waitMs, question.askAhead);
        askAhead();
        if (!(await turn)) return null;
      }
      const visit = enter();
      try {
        return await work(await question.answer(), visit);
      } finally {
        visit.leave();
      }
    },
  };
}

/** A question that may be asked ahead, and counts only while nothing has happened since. */
function openQuestion<A>(
  ask: () => Promise<A>,
  read: () => { now: number; troubles: number },
): { askAhead: () => void; answer: () => Promise<A> } {
  let ahead: { answer: Promise<A>; now: number; troubles: number } | null = null;
  return {
    askAhead: () => {
      if (ahead !== null) return;
      ahead = { answer: ask(), ...read() };
      // Whoever needs it hears of a failure; nobody may need it.
      ahead.answer.catch(() => {});
    },
    answer: () => {
      const { now, troubles } = read();
      if (ahead?.troubles === troubles && now - ahead.now <= FRESH_MS) return ahead.answer;
      return ask();
    },
  };
}

/** Stands in line; false when the time was over first. */
function turnOf(line: Waiter[], waitMs: number, askAhead: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const waiter: Waiter = {
      askAhead,
      end: (isTurn) => {
        clearTimeout(timer);
        resolve(isTurn);
      },
    };
    const timer = setTimeout(() => {
      line.splice(line.indexOf(waiter), 1);
      waiter.end(false);
    }, waitMs);
    line.push(waiter);
  });
}
