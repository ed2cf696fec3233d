import type { StatusState } from "../../contract/commit-status.ts";

/** The result of a check of a commit on its git host. */
export interface HostStatus {
  context: string;
  state: StatusState;
  description: string | null;
  targetUrl: string | null;
}

/** The outcome of a call of a git host's API. */
export type HostOutcome<T> =
  | { outcome: "done"; value: T }
  /** svc has no API of this host, or no token for it. */
  | { outcome: "none" }
  /**
   * The host refused or did not respond. `isFinal`: it would refuse again, as for want of a permission. `retryMs`: how
   * long the host wants to be left alone.
   */
  | { outcome: "failed"; reason: string; isFinal: boolean; retryMs: number | null };
