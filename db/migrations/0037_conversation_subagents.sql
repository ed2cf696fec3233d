ALTER TABLE "conversation_parts" ADD COLUMN "parent_id" text;--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD COLUMN "retry" jsonb;