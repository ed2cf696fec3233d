ALTER TABLE "conversation_parts" ADD COLUMN "conversation" integer;--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD COLUMN "conversation" integer;--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "id" serial NOT NULL;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_id" UNIQUE("id");--> statement-breakpoint
UPDATE "conversation_parts" SET "conversation" = "conversations"."id" FROM "conversations" WHERE "conversations"."session_id" = "conversation_parts"."session_id";--> statement-breakpoint
UPDATE "conversation_turns" SET "conversation" = "conversations"."id" FROM "conversations" WHERE "conversations"."session_id" = "conversation_turns"."session_id";--> statement-breakpoint
ALTER TABLE "conversation_parts" DROP CONSTRAINT "conversation_parts_part_id";--> statement-breakpoint
ALTER TABLE "conversation_turns" DROP CONSTRAINT "conversation_turns_turn_id";--> statement-breakpoint
ALTER TABLE "conversation_parts" DROP CONSTRAINT "conversation_parts_session_id_conversations_session_id_fk";
--> statement-breakpoint
ALTER TABLE "conversation_turns" DROP CONSTRAINT "conversation_turns_session_id_conversations_session_id_fk";
--> statement-breakpoint
DROP INDEX "conversation_parts_version";--> statement-breakpoint
DROP INDEX "conversation_parts_turn";--> statement-breakpoint
DROP INDEX "conversation_turns_version";--> statement-breakpoint
DROP INDEX "conversation_turns_prompt_id";--> statement-breakpoint
ALTER TABLE "conversation_parts" DROP CONSTRAINT "conversation_parts_session_id_number_pk";--> statement-breakpoint
ALTER TABLE "conversation_turns" DROP CONSTRAINT "conversation_turns_session_id_number_pk";--> statement-breakpoint
ALTER TABLE "conversation_parts" ALTER COLUMN "conversation" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "conversation_turns" ALTER COLUMN "conversation" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD CONSTRAINT "conversation_parts_conversation_number_pk" PRIMARY KEY("conversation","number");--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD CONSTRAINT "conversation_turns_conversation_number_pk" PRIMARY KEY("conversation","number");--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD CONSTRAINT "conversation_parts_conversation_conversations_id_fk" FOREIGN KEY ("conversation") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD CONSTRAINT "conversation_turns_conversation_conversations_id_fk" FOREIGN KEY ("conversation") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "conversation_parts_version" ON "conversation_parts" USING btree ("conversation","version");--> statement-breakpoint
CREATE INDEX "conversation_parts_turn" ON "conversation_parts" USING btree ("conversation","turn");--> statement-breakpoint
CREATE INDEX "conversation_turns_version" ON "conversation_turns" USING btree ("conversation","version");--> statement-breakpoint
CREATE INDEX "conversation_turns_prompt_id" ON "conversation_turns" USING btree ("conversation","prompt_id");--> statement-breakpoint
ALTER TABLE "conversation_parts" DROP COLUMN "session_id";--> statement-breakpoint
ALTER TABLE "conversation_turns" DROP COLUMN "session_id";--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD CONSTRAINT "conversation_parts_part_id" UNIQUE("conversation","part_id");--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD CONSTRAINT "conversation_turns_turn_id" UNIQUE("conversation","turn_id");
