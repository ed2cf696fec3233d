import type { Link as OneTimeLink, SignedIn } from "../../../src/contract/sign-in.ts";
import { useSignOut } from "../../api/sign-out.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useEnter } from "./enter.ts";
import { Invited, Until } from "./invited.tsx";

interface Props {
  token: string;
  link: OneTimeLink;
  user: SignedIn;
}

/** An invitation, taken up by somebody who is signed in already. */
export function Join({ token, link, user }: Props) {
  const join = useEnter<{ token: string }>("/auth/link", "/");
  const signOut = useSignOut(`/welcome?token=${encodeURIComponent(token)}`);
  return (
    <Entrance title="You are invited">
      <Invited link={link} />
      <p>
        You are signed in as{" "}
        <strong className="font-medium">
          <Visible>{user.email}</Visible>
        </strong>
        .
      </p>
      <Failure error={join.error} />
      <Button look="primary" busy={join.isPending} onClick={() => join.mutate({ token })}>
        Join
      </Button>
      <Button look="quiet" busy={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out, and join as somebody else
      </Button>
      <Until link={link} />
    </Entrance>
  );
}
