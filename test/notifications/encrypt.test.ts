import { expect, test } from "bun:test";
import { encrypt } from "../../src/features/notifications/push/encrypt.ts";

test("the example of RFC 8291, appendix A", () => {
  const decoded = (text: string) => Buffer.from(text, "base64url");
  const keys = {
    p256dh: decoded(
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    ),
    auth: decoded("BTBZMqHH6r4Tts7J_aSIgg"),
  };
  const made = {
    salt: decoded("DGv6ra1nlYgDCS1FRnbzlw"),
    privateKey: decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
  };
  expect(encrypt("When I grow up, I want to be a watermelon", keys, made).toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});
