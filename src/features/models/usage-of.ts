import { field, numberField } from "../../contract/json.ts";
import type { TokensUsed } from "../../contract/usage.ts";
import type { Prices } from "../../models/catalog.ts";

/** The most tokens that a report is believed to have: an upstream's mistake must not overflow a sum. */
const TOKENS_MAX = 1_000_000_000;

/** The usage in an upstream's response or event, in either format; null if it has none. */
export function usageOf(body: unknown): TokensUsed | null {
  // Responses' events contain the response, and Anthropic's first event the message
  for (const usage of [body, field(body, "response"), field(body, "message")].map((at) =>
    field(at, "usage"),
  )) {
    const tokens = readUsage(usage);
    if (tokens) return tokens;
  }
  return null;
}

function readUsage(usage: unknown): TokensUsed | null {
  const count = (name: string, of = usage) => {
    const tokens = numberField(of, name);
    return tokens === null ? null : Math.min(Math.max(Math.trunc(tokens), 0), TOKENS_MAX);
  };
  const chat = count("prompt_tokens");
  if (chat !== null)
    return {
      input: chat,
      output: count("completion_tokens") ?? 0,
      cached: count("cached_tokens", field(usage, "prompt_tokens_details")) ?? 0,
    };
  const [input, output] = [count("input_tokens"), count("output_tokens")];
  if (input === null && output === null) return null;
  // Anthropic counts what it reads from its cache, and writes to it, besides input_tokens
  const read = count("cache_read_input_tokens") ?? 0;
  const written = count("cache_creation_input_tokens") ?? 0;
  const details = count("cached_tokens", field(usage, "input_tokens_details")) ?? 0;
  return { input: (input ?? 0) + read + written, output: output ?? 0, cached: read + details };
}

/** Later reports of one call replace earlier ones, but some contain only the output. */
export function mergeUsage(before: TokensUsed | null, now: TokensUsed): TokensUsed {
  if (!before) return now;
  return {
    input: Math.max(before.input, now.input),
    output: Math.max(before.output, now.output),
    cached: Math.max(before.cached, now.cached),
  };
}

/** In US dollars; null without prices. */
export function costOf(prices: Prices | null, { input, output, cached }: TokensUsed): number | null {
  if (!prices) return null;
  const fresh = Math.max(input - cached, 0);
  return (fresh * prices.input + cached * prices.cachedInput + output * prices.output) / 1_000_000;
}
