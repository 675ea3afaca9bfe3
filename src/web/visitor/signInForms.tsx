// The forms of signing in. Labels stand above their fields, problems are read out first, and a
// password manager finds what it looks for.

import { Form } from '../layout/parts.js';
import { Ask } from '../layout/said.js';

function Problem({ words }: { words: string | null }) {
  if (words === null) return null;
  return (
    <p class="problem" role="alert">
      {words}
    </p>
  );
}

function CurrentPassword() {
  return (
    <>
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        maxLength={200}
      />
    </>
  );
}

interface SignInProps {
  csrf: string;
  next: string;
  name: string;
  problem: string | null;
}

export function SignInForm({ csrf, next, name, problem }: SignInProps) {
  return (
    <>
      <h1>Sign in</h1>
      <Problem words={problem} />
      <Form action="/sign-in" csrf={csrf} class="stack">
        <input type="hidden" name="next" value={next} />
        <label for="name">Name</label>
        <input id="name" name="name" autocomplete="username" value={name} required maxLength={64} />
        <CurrentPassword />
        <button type="submit" class="main">
          Sign in
        </button>
      </Form>
      <p class="hint">
        No password yet, or forgotten? Whoever runs tieout makes a link that works once{' '}
        <Ask command="tieout users link NAME" />.
      </p>
    </>
  );
}

export function ConfirmForm({ csrf, next, name, problem }: SignInProps) {
  return (
    <>
      <h1>Your password, once more</h1>
      <p>
        Decisions that may move money need {name}'s password of the last ten minutes, so that an
        unlocked screen decides nothing.
      </p>
      <Problem words={problem} />
      <Form action="/confirm" csrf={csrf} class="stack">
        <input type="hidden" name="next" value={next} />
        <CurrentPassword />
        <button type="submit" class="main">
          Go on
        </button>
      </Form>
    </>
  );
}

export function OwnPasswordForm({ csrf, name, problem }: Omit<SignInProps, 'next'>) {
  return (
    <>
      <h1>Another password for {name}</h1>
      <p>It counts from now on; whoever else is signed in as {name} is signed out.</p>
      <Problem words={problem} />
      <Form action="/password" csrf={csrf} class="stack">
        <label for="present">Present password</label>
        <input
          id="present"
          name="present"
          type="password"
          autocomplete="current-password"
          required
          maxLength={200}
        />
        <NewPassword label="New password, at least 12 characters" />
        <button type="submit" class="main">
          Change it
        </button>
      </Form>
    </>
  );
}

function NewPassword({ label }: { label: string }) {
  return (
    <>
      <label for="password">{label}</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        required
        minLength={12}
        maxLength={200}
      />
      <label for="again">The same password again</label>
      <input
        id="again"
        name="again"
        type="password"
        autocomplete="new-password"
        required
        maxLength={200}
      />
    </>
  );
}

interface WelcomeProps {
  csrf: string;
  token: string;
  /** null: this link makes the first account, which chooses its name */
  fixedName: string | null;
  name: string;
  problem: string | null;
}

export function WelcomeForm({ csrf, token, fixedName, name, problem }: WelcomeProps) {
  return (
    <>
      <h1>{fixedName === null ? 'The first account' : `Welcome, ${fixedName}`}</h1>
      <p>
        {fixedName === null
          ? 'This account may do everything, also approve. Give everybody else only the roles ' +
            'they need, under Settings.'
          : 'Choose a password. The link that led here works once.'}
      </p>
      <Problem words={problem} />
      <Form action={`/welcome/${encodeURIComponent(token)}`} csrf={csrf} class="stack">
        {fixedName === null ? (
          <>
            <label for="name">Your name</label>
            <input id="name" name="name" autocomplete="username" value={name} required />
          </>
        ) : null}
        <NewPassword label="Password, at least 12 characters" />
        <button type="submit" class="main">
          Begin
        </button>
      </Form>
    </>
  );
}
