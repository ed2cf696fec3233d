/** Size of the largest `svc.toml` that svc reads, in bytes: a hundred times a long one. */
export const MANIFEST_MAX_BYTES = 256 * 1024;
