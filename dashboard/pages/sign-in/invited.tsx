import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { Ago } from "../../parts/ago.tsx";
import { Visible } from "../../parts/visible.tsx";
import { ROLE_NAMES } from "../accounts/roles.ts";

/** What an invitation is to. */
export function Invited({ link }: { link: OneTimeLink }) {
  return (
    <p className="text-muted">
      Join{" "}
      <strong className="font-medium text-ink">
        <Visible>{link.account_name || "a team"}</Visible>
      </strong>
      {link.role && ` as ${ROLE_NAMES[link.role].toLowerCase()}`}: work in its projects, and review what
      agents make.
    </p>
  );
}

/** For how long a link is good. */
export function Until({ link }: { link: OneTimeLink }) {
  return (
    <p className="text-muted text-sm">
      This link works once, and expires <Ago at={link.expires_at} />.
    </p>
  );
}
