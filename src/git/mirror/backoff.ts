import type { SvcError } from "../../contract/errors.ts";
import type { RemoteRepository } from "../git.ts";
import type { Log } from "../run/options.ts";

/** Failures in a row after which quick attempts back off, too. */
const FREE_FAILURES = 2;
/** An attempt that fails sooner is cheap, so its pause stays short and a host that is back is found soon. */
const QUICK_MS = 5_000;
const QUICK_PAUSE_MAX_MS = 15_000;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30 * 60_000;

/** The last failure to fetch a repository, and when the next attempt is due. */
export interface Failed {
  reason: SvcError;
  failures: number;
  /** By `performance.now()`. */
  nextAt: number;
}

/** Tracks failed fetches, so that attempts back off. */
export interface Backoff {
  /** Null after a success, and when the repository has another address or credential than at the failure. */
  last(repo: RemoteRepository): Failed | null;
  /** @param took milliseconds of the attempt */
  failed(repo: RemoteRepository, reason: SvcError, took: number): void;
  /** Forgets the failures of a repository. */
  reset(id: string): void;
}

export function createBackoff(log: Log): Backoff {
  const failing = new Map<string, Failed & { remote: string }>();
  return { last, failed, reset: (id) => void failing.delete(id) };

  function last(repo: RemoteRepository): Failed | null {
    const known = failing.get(repo.id);
    return known?.remote === remoteOf(repo) ? known : null;
  }

  function failed(repo: RemoteRepository, reason: SvcError, took: number): void {
    const failures = (last(repo)?.failures ?? 0) + 1;
    const pauseMs = Math.round(pauseAfter(failures, took));
    failing.set(repo.id, {
      reason,
      failures,
      nextAt: performance.now() + pauseMs,
      remote: remoteOf(repo),
    });
    log.warn(
      { repo: repo.id, reason: reason.message, failures, pauseMs },
      "a repository could not be fetched",
    );
  }
}

/**
 * Milliseconds until the next attempt. A slow one is followed by a pause of its own length, doubled with each further
 * failure; quick ones wait only after the second failure, and never long.
 */
export function pauseAfter(failures: number, took: number): number {
  if (took >= QUICK_MS) return Math.min(took * 2 ** (failures - 1), PAUSE_MAX_MS);
  if (failures <= FREE_FAILURES) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - FREE_FAILURES - 1), QUICK_PAUSE_MAX_MS);
}

function remoteOf({ url, credential }: RemoteRepository): string {
  return JSON.stringify([url, credential?.username, credential?.token]);
}
