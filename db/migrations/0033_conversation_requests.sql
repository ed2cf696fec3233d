ALTER TYPE "public"."part_kind" ADD VALUE 'plan';--> statement-breakpoint
ALTER TYPE "public"."part_kind" ADD VALUE 'question';--> statement-breakpoint
ALTER TYPE "public"."part_kind" ADD VALUE 'permission';--> statement-breakpoint
CREATE TABLE "conversation_answers" (
	"session_id" text NOT NULL,
	"request_id" text NOT NULL,
	"answered_by" uuid NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "conversation_answers_session_id_request_id_pk" PRIMARY KEY("session_id","request_id")
);
--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD COLUMN "plan" jsonb;--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD COLUMN "request" jsonb;--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD COLUMN "is_rejected" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "conversation_answers" ADD CONSTRAINT "conversation_answers_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversation_answers" ADD CONSTRAINT "conversation_answers_answered_by_users_user_id_fk" FOREIGN KEY ("answered_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;