import type { Session } from "../../../src/contract/session.ts";
import { withoutColours } from "../../parts/ansi.ts";
import { Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** That the setup command of a session has failed, and the end of its output; nothing if it did not. */
export function SetupProblem({ session: { setup } }: { session: Session }) {
  if (setup?.state !== "failed") return null;
  return (
    <Notice kind="warning">
      <details>
        <summary>
          setup failed: <Visible>{setup.problem ?? "unknown reason"}</Visible>
        </summary>
        <pre className="mt-2 overflow-x-auto font-mono text-xs leading-5">
          <Visible>{withoutColours(setup.output.join("\n"))}</Visible>
        </pre>
      </details>
    </Notice>
  );
}
