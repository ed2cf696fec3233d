/** Spec 3.2. `queued`, `branching` and `completed` are defined and never written. */
export const SESSION_STATUSES = [
  "queued",
  "branching",
  "provisioning",
  "running",
  "stopped",
  "failed",
  "completed",
] as const;

/** Spec 3.3. */
export const SANDBOX_STATES = ["provisioning", "active", "stopped", "error", "archived"] as const;
