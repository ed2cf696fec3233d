import type { Link as OneTimeLink, SignedIn } from "../../../src/contract/sign-in.ts";
import { useSignOut } from "../../api/sign-out.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Expiry, Invited } from "./invitation.tsx";
import { useSignInForm } from "./sign-in-form.ts";

interface Props {
  token: string;
  link: OneTimeLink;
  user: SignedIn;
}

/** Accepts an invitation as the signed-in user. */
export function Join({ token, link, user }: Props) {
  const join = useSignInForm("/auth/link", "/", {}, { token });
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
      <Button look="primary" busy={join.isPending} onClick={() => join.submit()}>
        Join
      </Button>
      <Button look="quiet" busy={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out and join as another user
      </Button>
      <Expiry link={link} />
    </Entrance>
  );
}
