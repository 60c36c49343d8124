import type { Services } from '@postrider/core';
import { READ_TOGETHER_BYTES } from '@postrider/core/delivery';
import { FairLine, largeEmailBounds, largeSandboxBounds } from '@postrider/core/shares';
import type { Candidate } from './candidate.ts';

/**
 * Limits the memory used by large emails, from their claim until the end of their content is sent. Until its turn, a
 * large email waits unclaimed in its lane, so that it does not use a slot.
 */
export class LargeEmailMemory {
  /**
   * Live and sandbox email have separate lines, because a simulator script may take minutes before it reads the
   * content.
   */
  readonly #lines: Readonly<Record<Candidate['mode'], FairLine>>;
  readonly #metrics: Pick<Services['metrics'], 'shift'>;
  /** Functions that release the shares of jobs, by job id. */
  readonly #leaves = new Map<string, () => void>();
  /** Workspaces, by mode, whose email was skipped since a share was last returned. */
  readonly #passed = new Set<string>();

  constructor(metrics: Pick<Services['metrics'], 'count' | 'shift'>) {
    this.#lines = {
      live: new FairLine('large_emails', largeEmailBounds, metrics),
      sandbox: new FairLine('large_emails', largeSandboxBounds, metrics),
    };
    this.#metrics = metrics;
  }

  hasRoomFor(candidate: Candidate): boolean {
    if (!isLarge(candidate)) return true;
    const { mode, job, body_bytes } = candidate;
    const { workspace_id } = job.data;
    if (this.#lines[mode].hasRoom(workspace_id, body_bytes)) return true;
    this.#pass(`${mode} ${workspace_id}`);
    return false;
  }

  take(candidate: Candidate): void {
    if (!isLarge(candidate)) return;
    const { mode, job, body_bytes } = candidate;
    // A job that was lost here is being claimed again.
    this.release(job.id);
    this.#leaves.set(job.id, this.#lines[mode].take(job.data.workspace_id, body_bytes));
  }

  /** Releases the share of a job, and returns whether the job held one. */
  release(job_id: string): boolean {
    const leave = this.#leaves.get(job_id);
    if (!leave) return false;
    this.#leaves.delete(job_id);
    leave();
    this.#metrics.shift('share_waiting', ['large_emails'], -this.#passed.size);
    this.#passed.clear();
    return true;
  }

  #pass(owner: string): void {
    if (this.#passed.has(owner)) return;
    this.#passed.add(owner);
    this.#metrics.shift('share_waiting', ['large_emails'], 1);
  }
}

function isLarge({ body_bytes }: Candidate): boolean {
  return body_bytes > READ_TOGETHER_BYTES;
}
