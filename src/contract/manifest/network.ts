import {
  EGRESS_ALLOW_MAX,
  EGRESS_ENTRY_MAX,
  EGRESS_MODES,
  type EgressMode,
  type EgressPolicy,
  readEntry,
} from "../egress/policy.ts";
import { EGRESS_PRESETS } from "../egress/presets.ts";
import type { Kind } from "./kinds.ts";
import { isTable, type Table, type TableShape } from "./shape.ts";

const MODE_EXPECTED = '"open", "restricted" or "none"';
const egressMode: Kind<EgressMode> = {
  fits: (value): value is EgressMode => EGRESS_MODES.some((each) => each === value),
  expected: MODE_EXPECTED,
  fault: () => `must be ${MODE_EXPECTED}`,
  schema: { enum: EGRESS_MODES },
};

const PRESETS = Object.keys(EGRESS_PRESETS).map((name) => `"preset:${name}"`);
const ENTRY_EXPECTED = `a host name such as "api.example.com", "*.example.com" or "example.com:8443", an IPv4 address, or ${PRESETS.join(" or ")}`;
const egressEntry: Kind<string> = {
  fits: (value): value is string => typeof value === "string" && readEntry(value) !== null,
  expected: ENTRY_EXPECTED,
  fault: () => `must be ${ENTRY_EXPECTED}`,
  schema: { type: "string", minLength: 1, maxLength: EGRESS_ENTRY_MAX, pattern: "^[^\\s/?#@]+$" },
};

export const networkShape: TableShape = {
  is: "table",
  about: "What sandboxes may connect to ([egress.md](egress.md)).",
  fields: {
    egress: {
      is: "value",
      kind: egressMode,
      fallback: "open",
      about:
        "`open`: the public internet; `restricted`: only `allow`, by name through svc's proxy; `none`: nothing. The operator of the server may set a limit.",
    },
    allow: {
      is: "values",
      kind: egressEntry,
      valuesMax: EGRESS_ALLOW_MAX,
      about: "What sandboxes may connect to with `restricted`. Without a port, an entry is for 443 and 80.",
    },
  },
};

/** An invalid value counts as the most restrictive one, and an invalid entry allows nothing. */
export function readNetwork(root: Table): EgressPolicy {
  const table = root["network"] ?? {};
  if (!isTable(table)) return { mode: "none", allow: [] };
  const { egress = "open", allow = [] } = table;
  return {
    mode: egressMode.fits(egress) ? egress : "none",
    allow: Array.isArray(allow)
      ? [
          ...new Set(
            allow
              .slice(0, EGRESS_ALLOW_MAX)
              .flatMap((entry) => (egressEntry.fits(entry) ? (readEntry(entry) ?? []) : [])),
          ),
        ]
      : [],
  };
}
