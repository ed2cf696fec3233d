import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { SignIn } from "../../../src/contract/sign-in.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { browserName } from "../../parts/browser-name.ts";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

const AT = "/accounts/sign-ins";
const KEY = ["sign-ins"];

/** The browsers in which the user is signed in. This one has its own button to sign out. */
export function SignIns() {
  const queries = useQueryClient();
  const { data, error, isPending, refetch } = useGet<{ sign_ins: SignIn[] }>(KEY, AT);
  const end = useMutation({
    mutationFn: (id: string) => call("DELETE", AT + path`/${id}`),
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Section
      title="Browsers"
      about="Where you are signed in. A browser stays signed in for 30 days after its last use."
    >
      <Failure error={error ?? end.error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading your browsers" />}
      <ul aria-label="Browsers" className="divide-y divide-line">
        {data?.sign_ins.map((signIn) => (
          <Row
            key={signIn.sign_in_id}
            signIn={signIn}
            busy={end.isPending && end.variables === signIn.sign_in_id}
            onEnd={() => end.mutate(signIn.sign_in_id)}
          />
        ))}
      </ul>
    </Section>
  );
}

function Row({ signIn, busy, onEnd }: { signIn: SignIn; busy: boolean; onEnd: () => void }) {
  const { user_agent, address, created_at, last_used_at, is_current } = signIn;
  const name = browserName(user_agent ?? "");
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="font-medium">
          {name}
          {is_current && <span className="font-normal text-muted"> (this browser)</span>}
        </p>
        <p className="text-muted text-sm">
          Signed in <Ago at={created_at} />
          {address !== null && (
            <>
              {" "}
              from <Visible>{address}</Visible>
            </>
          )}{" "}
          · last used <Ago at={last_used_at} />
        </p>
      </div>
      {!is_current && (
        <Button look="danger" busy={busy} onClick={onEnd} aria-label={`Sign out ${name}`}>
          Sign out
        </Button>
      )}
    </li>
  );
}
