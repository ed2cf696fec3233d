import type { Connection } from "./connection.ts";

/** Pauses or resumes reading from both sides, so that neither is read faster than the other takes it. */
export function updateFlow(connection: Connection): void {
  const { socket, writer, upstream, pausedAt, inbox, state } = connection;
  const { kind } = state;
  if (kind === "over") return;
  if (state.kind === "answering" && !writer.isFull) {
    state.drained?.();
    state.drained = null;
  }
  if (!writer.isFull) upstream?.resume();
  const isSending = kind === "sending" || kind === "draining";
  const hasToWait =
    kind === "deciding" ||
    kind === "upgrading" ||
    ((kind === "responding" || kind === "answering") && inbox.length > 0) ||
    ((isSending || kind === "raw") && (upstream?.isFull ?? false));
  if (hasToWait === (pausedAt !== null)) return;
  if (pausedAt === null) {
    connection.pausedAt = connection.limits.now();
    socket.pause();
  } else {
    // time in which svc does not read does not count against the body
    if (isSending || kind === "collecting") connection.deadline += connection.limits.now() - pausedAt;
    connection.pausedAt = null;
    socket.resume();
  }
}

/** Extends the deadline of a body by what its bytes may take at the lowest rate. */
export function extendDeadline(connection: Connection, bytes: number): void {
  const { deadline, limits } = connection;
  const earned = deadline + (bytes * 1000) / limits.bodyRate;
  connection.deadline = Math.min(earned, limits.now() + limits.silenceMs);
}
