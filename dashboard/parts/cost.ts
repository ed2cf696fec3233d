/** Below this, cents do not say anything. */
const SMALL = 1;

/** A cost in US dollars, as people read it; what is not known is a dash. */
export function dollars(cost: number | null): string {
  if (cost === null) return "–";
  if (cost === 0 || cost >= SMALL)
    return `$${cost.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${cost.toLocaleString("en", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })}`;
}

/** What a session or change request has used of models; null if nothing. */
export function spent({
  cost,
  tokens,
}: {
  cost: number | null;
  tokens: { input: number; output: number };
}): string | null {
  if (cost === null && tokens.input + tokens.output === 0) return null;
  const used = `${(tokens.input + tokens.output).toLocaleString("en")} tokens`;
  return cost === null ? used : `${dollars(cost)}, ${used}`;
}
