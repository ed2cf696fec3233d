import { useEffect, useRef } from "react";
import type { MintedUserToken } from "../../../src/contract/account.ts";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Visible } from "../../parts/visible.tsx";

interface Props {
  token: MintedUserToken;
  isMine: boolean;
  onClose: () => void;
}

/** The secret of a new token, which is shown only once. It receives the focus. */
export function NewToken({ token, isMine, onClose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div
      ref={box}
      tabIndex={-1}
      className="mb-4 flex flex-col gap-3 rounded-md border border-ok bg-ok-ground p-3"
    >
      <p role="status" className="text-ok">
        The token <Visible>{token.name}</Visible> was created. Copy it now: it is not shown again.
      </p>
      <Command label="Copy the token">{token.token}</Command>
      <p className="text-sm">
        {isMine
          ? "Sign in with the CLI, which prompts for the token:"
          : "Set it as the environment variable SVC_CLI_TOKEN of a script, or run:"}
      </p>
      <Command>{`svc login --api ${window.location.origin}/v1 --token -`}</Command>
      <div>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  );
}
