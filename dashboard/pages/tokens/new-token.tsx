import type { MintedUserToken } from "../../../src/contract/account.ts";
import { Command } from "../../parts/command.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Visible } from "../../parts/visible.tsx";

interface Props {
  token: MintedUserToken;
  isMine: boolean;
  onClose: () => void;
}

/** The secret of a new token, and how to use it. */
export function NewToken({ token, isMine, onClose }: Props) {
  const said = (
    <>
      The token <Visible>{token.name}</Visible> was created. Copy it now: it is not shown again.
    </>
  );
  return (
    <ShownOnce said={said} copy="Copy the token" secret={token.token} onClose={onClose}>
      <p className="text-sm">
        {isMine
          ? "Sign in with the CLI, which prompts for the token:"
          : "Set it as the environment variable SVC_CLI_TOKEN of a script, or run:"}
      </p>
      <Command>{`svc login --api ${window.location.origin}/v1 --token -`}</Command>
    </ShownOnce>
  );
}
