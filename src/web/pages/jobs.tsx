// Failed queue jobs in words: what each was about, what is proven, and what a retry would do. A
// retry asks the database what is still to be done; it never repeats what the job did.

import { moreOf } from '../../core/text/amounts.js';
import { labelOf } from '../../core/text/labels.js';
import type { RowVerdict } from '../layout/parts.js';
import { Empty, Form, Table, Verdicts } from '../layout/parts.js';
import type { Answer, FailedJobView, JobVerdict, Visit } from '../visit.js';
import { refused } from '../visit.js';

export async function jobsPage(visit: Visit): Promise<Answer> {
  const jobs = await visit.deps.jobs.list();
  const counts = Object.entries(await visit.deps.jobs.counts());
  const failed = counts.reduce((sum, [, one]) => sum + one.failed, 0);
  const body = (
    <>
      <h1>Failed jobs</h1>
      <p>
        A job only says "look here". What is done and what is not stands in the database, so a retry
        weighs everything anew and sends nothing that was sent before.
      </p>
      <p>
        Waiting: {listOf(counts.map(([queue, { waiting }]) => [queue, waiting]))}. At work:{' '}
        {listOf(counts.map(([queue, { active }]) => [queue, active]))}.
      </p>
      {jobs.length === 0 ? (
        <Empty>No job has failed. If a night stands still all the same, see Tonight.</Empty>
      ) : (
        <JobTable visit={visit} jobs={jobs} />
      )}
      {moreOf(failed - jobs.length).map((more) => (
        <p class="hint">{more}, which failed before these.</p>
      ))}
    </>
  );
  return { kind: 'page', title: 'Failed jobs', section: 'Jobs', body };
}

/** `capture 3, refund 12`; queues without a job are left out. */
function listOf(counts: readonly (readonly [queue: string, jobs: number])[]): string {
  const some = counts.filter(([, jobs]) => jobs > 0);
  return some.length === 0 ? 'none' : some.map(([queue, jobs]) => `${queue} ${jobs}`).join(', ');
}

function JobTable({ visit, jobs }: { visit: Visit; jobs: readonly FailedJobView[] }) {
  return (
    <Table
      caption="Failed jobs, newest first"
      columns={[
        { head: 'Failed' },
        { head: 'About' },
        { head: 'Why it failed' },
        { head: 'A retry' },
        { head: 'Do' },
      ]}
    >
      {jobs.map((job) => (
        <tr>
          <th scope="row">{visit.words.at(job.failedAt)}</th>
          <td>
            {job.queue} {job.id ?? ''}
          </td>
          <td>{visit.words.free(job.reason)}</td>
          <td>{job.retry}</td>
          <td class="buttons">
            {(['retry', 'discard'] as const).map((verb) => (
              <Form action={`/jobs/${verb}`} csrf={visit.csrf}>
                <input type="hidden" name="job" value={job.jobId} />
                <button
                  type="submit"
                  aria-label={`${verb} the job about ${job.queue} ${job.id ?? ''}`}
                >
                  {verb}
                </button>
              </Form>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function retryJobs(visit: Visit): Promise<Answer> {
  return decide(visit, 'retry', (jobId) => visit.deps.jobs.retry(jobId));
}

export function discardJobs(visit: Visit): Promise<Answer> {
  return decide(visit, 'discard', (jobId) => visit.deps.jobs.discard(jobId));
}

const DONE = ['rung', 'done', 'discarded'];

async function decide(
  visit: Visit,
  verb: 'retry' | 'discard',
  act: (jobId: string) => Promise<JobVerdict>,
): Promise<Answer> {
  const jobId = visit.form.text('job', 200);
  if (jobId === null) return refused('Name the job.');
  const { kind, words } = await act(jobId);
  await visit.record({ action: `${verb} job`, subject: jobId, outcome: kind });
  const row: RowVerdict = {
    what: `${verb} ${jobId}`,
    kind: DONE.includes(kind) ? 'done' : 'refused',
    words: `${labelOf(kind)}: ${words}`,
  };
  const body = <Verdicts rows={[row]} back="/jobs" />;
  return { kind: 'page', title: 'What was done', section: 'Jobs', body };
}
