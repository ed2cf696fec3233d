import { EGRESS_ALLOW_MAX, type EgressPolicy, readEntry } from "../egress/policy.ts";
import * as kinds from "./kinds.ts";
import { isTable, type Table, type TableShape } from "./shape.ts";

export const networkShape: TableShape = {
  is: "table",
  about: "What sandboxes may connect to ([egress.md](egress.md)).",
  fields: {
    egress: {
      is: "value",
      kind: kinds.egressMode,
      fallback: "open",
      about:
        "`open`: the public internet; `restricted`: only `allow`, by name through svc's proxy; `none`: nothing. The operator of the server may set a limit.",
    },
    allow: {
      is: "values",
      kind: kinds.egressEntry,
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
    mode: kinds.egressMode.fits(egress) ? egress : "none",
    allow: Array.isArray(allow)
      ? [
          ...new Set(
            allow
              .slice(0, EGRESS_ALLOW_MAX)
              .flatMap((entry) => (kinds.egressEntry.fits(entry) ? (readEntry(entry) ?? []) : [])),
          ),
        ]
      : [],
  };
}
