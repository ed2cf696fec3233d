import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MintedUserToken, ProjectToken, UserToken } from "../../../src/contract/account.ts";
import { call } from "../../api/call.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { CreateToken } from "./create-token.tsx";
import { NewToken } from "./new-token.tsx";

interface Props {
  title: string;
  about: string;
  queryKey: readonly unknown[];
  /** API path of the tokens, below `/v1`. */
  at: string;
  /** Whether these are the tokens of the signed-in user. */
  areMine?: boolean;
}

type Token = UserToken & Partial<Pick<ProjectToken, "session_id">>;

/** Lists, creates and revokes tokens. */
export function Tokens({ title, about, queryKey, at, areMine = false }: Props) {
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<MintedUserToken | null>(null);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const list = useList<Token>(queryKey, at, "tokens");
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey });
  const revoke = useMutation({
    mutationFn: (token: Token) => call("DELETE", at + path`/${token.token_id}`),
    onSuccess: async (_, { token_id }) => {
      if (made?.token_id === token_id) setMade(null);
      setRevoking(null);
      await changed();
    },
  });
  return (
    <Section
      title={title}
      about={about}
      actions={<Button onClick={() => setIsMaking(true)}>New token</Button>}
    >
      {made && <NewToken token={made} isMine={areMine} onClose={() => setMade(null)} />}
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the tokens" />}
      {list.isSuccess && list.rows.length === 0 && <p className="text-muted">No tokens yet.</p>}
      <ul className="divide-y divide-line">
        {list.rows.map((token) => (
          <Row key={token.token_id} token={token} onRevoke={() => setRevoking(token)} />
        ))}
      </ul>
      <More list={list} />
      {isMaking && (
        <CreateToken
          at={at}
          onMade={(token) => {
            setMade(token);
            setIsMaking(false);
            void changed();
          }}
          onClose={() => setIsMaking(false)}
        />
      )}
      {revoking && (
        <Confirm
          title={`Revoke ${visibleText(revoking.name)}?`}
          verb="Revoke the token"
          action={revoke}
          onConfirm={() => revoke.mutate(revoking)}
          onClose={() => {
            revoke.reset();
            setRevoking(null);
          }}
        >
          <p>Requests with this token will be rejected. You cannot undo this.</p>
        </Confirm>
      )}
    </Section>
  );
}

function Row({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const hasExpired = token.expires_at !== null && Date.parse(token.expires_at) <= Date.now();
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <Visible>{token.name}</Visible>
          {hasExpired && <Badge look="warn">Expired</Badge>}
          {token.session_id && <Badge look="info">Session</Badge>}
          {token.scopes.every((scope) => scope !== "write") && (
            <Badge look="neutral">{token.scopes.join(", ")}</Badge>
          )}
        </p>
        <p className="text-muted text-sm">
          Created <Ago at={token.created_at} /> ·{" "}
          {token.last_used_at ? (
            <>
              last used <Ago at={token.last_used_at} />
            </>
          ) : (
            "never used"
          )}
          {token.expires_at && !hasExpired && (
            <>
              {" "}
              · expires <Ago at={token.expires_at} />
            </>
          )}
        </p>
      </div>
      <Button look="danger" onClick={onRevoke} aria-label={`Revoke ${visibleText(token.name)}`}>
        Revoke
      </Button>
    </li>
  );
}
