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

/** A token's secret, the only time that anybody sees it. It has the focus, so that nobody passes it by. */
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
        The token <Visible>{token.name}</Visible> is made. Copy it now: it is not shown again.
      </p>
      <Command label="Copy the token">{token.token}</Command>
      <p className="text-sm">
        {isMine
          ? "Sign the command line in with it; it asks for the token:"
          : "Use it in a script, as the variable SVC_CLI_TOKEN, or:"}
      </p>
      <Command>{`svc login --api ${window.location.origin}/v1 --token -`}</Command>
      <div>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  );
}
