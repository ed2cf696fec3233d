import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { Ago } from "../../parts/ago.tsx";
import { Visible } from "../../parts/visible.tsx";
import { ROLE_NAMES } from "../accounts/roles.ts";

/** The account and the role of an invitation. */
export function Invited({ link }: { link: OneTimeLink }) {
  return (
    <p className="text-muted">
      Join{" "}
      <strong className="font-medium text-ink">
        <Visible>{link.account_name || "a team"}</Visible>
      </strong>
      {link.role && ` as ${ROLE_NAMES[link.role].toLowerCase()}`} to work in its projects and review the work
      of agents.
    </p>
  );
}

/** The expiry of a link. */
export function Expiry({ link }: { link: OneTimeLink }) {
  return (
    <p className="text-muted text-sm">
      This link works once and expires <Ago at={link.expires_at} />.
    </p>
  );
}
