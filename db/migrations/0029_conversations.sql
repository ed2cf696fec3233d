CREATE TYPE "public"."part_kind" AS ENUM('prompt', 'text', 'reasoning', 'tool');--> statement-breakpoint
CREATE TYPE "public"."turn_state" AS ENUM('working', 'done', 'failed', 'aborted', 'interrupted');--> statement-breakpoint
CREATE TABLE "conversation_parts" (
	"session_id" text NOT NULL,
	"number" integer NOT NULL,
	"part_id" text NOT NULL,
	"turn" integer NOT NULL,
	"kind" "part_kind" NOT NULL,
	"is_complete" boolean NOT NULL,
	"text" text NOT NULL,
	"tool" jsonb,
	"is_cut" boolean DEFAULT false NOT NULL,
	"bytes" integer NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"version" bigint NOT NULL,
	CONSTRAINT "conversation_parts_session_id_number_pk" PRIMARY KEY("session_id","number"),
	CONSTRAINT "conversation_parts_part_id" UNIQUE("session_id","part_id")
);
--> statement-breakpoint
CREATE TABLE "conversation_turns" (
	"session_id" text NOT NULL,
	"number" integer NOT NULL,
	"turn_id" text NOT NULL,
	"prompt_id" uuid,
	"generation" integer NOT NULL,
	"state" "turn_state" NOT NULL,
	"error" text,
	"model" text,
	"tokens" jsonb,
	"cost" double precision,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"version" bigint NOT NULL,
	CONSTRAINT "conversation_turns_session_id_number_pk" PRIMARY KEY("session_id","number"),
	CONSTRAINT "conversation_turns_turn_id" UNIQUE("session_id","turn_id")
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"session_id" text PRIMARY KEY NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"last_turn" integer DEFAULT 0 NOT NULL,
	"last_part" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD CONSTRAINT "conversation_parts_session_id_conversations_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."conversations"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversation_turns" ADD CONSTRAINT "conversation_turns_session_id_conversations_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."conversations"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "conversation_parts_version" ON "conversation_parts" USING btree ("session_id","version");--> statement-breakpoint
CREATE INDEX "conversation_parts_turn" ON "conversation_parts" USING btree ("session_id","turn");--> statement-breakpoint
CREATE INDEX "conversation_turns_version" ON "conversation_turns" USING btree ("session_id","version");--> statement-breakpoint
CREATE INDEX "conversation_turns_prompt_id" ON "conversation_turns" USING btree ("session_id","prompt_id");