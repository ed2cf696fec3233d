/** A domain that has lost its proof is served for this long: records are removed by mistake, too. */
export const GRACE_MS = 3 * 24 * 60 * 60_000;
