// What is wrong with a password that somebody chooses: what the rules say (core/access.ts), and
// whether a guesser would come to it soon, told by zxcvbn from the passwords that leaked most
// often, words, rows of keys, dates, repetitions and what stands in for letters.

import { passwordProblem } from '../core/access.js';

/** What zxcvbn calls very unguessable, of 0 to 4: ten thousand million guesses and more. */
const SCORE_MIN = 4;

/** In words, after "the password"; null: it will do. */
export async function chosenPasswordProblem(
  password: string,
  name: string,
): Promise<string | null> {
  const problem = passwordProblem(password, name);
  if (problem !== null) return problem;
  const { score } = (await estimator()).check(password, [name]);
  return score < SCORE_MIN ? 'is one that a guesser soon comes to' : null;
}

let built: ReturnType<typeof buildEstimator> | null = null;

function estimator() {
  built ??= buildEstimator();
  return built;
}

/** Loaded when somebody first chooses: its dictionary takes a tenth of a second. */
async function buildEstimator() {
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core');
  const { adjacencyGraphs, dictionary } = await import('@zxcvbn-ts/language-common');
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
