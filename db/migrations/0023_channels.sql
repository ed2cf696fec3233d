CREATE TYPE "public"."channel_kind" AS ENUM('slack');--> statement-breakpoint
CREATE TYPE "public"."channel_task_kind" AS ENUM('message', 'click', 'relay');--> statement-breakpoint
CREATE TABLE "channel_tasks" (
	"task_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"channel_id" uuid NOT NULL,
	"key" text NOT NULL,
	"kind" "channel_task_kind" NOT NULL,
	"payload" jsonb,
	"session_id" text,
	"due_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "channel_tasks_key" UNIQUE("channel_id","key")
);
--> statement-breakpoint
CREATE TABLE "channel_threads" (
	"thread_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"channel_id" uuid NOT NULL,
	"room" text NOT NULL,
	"ts" text NOT NULL,
	"session_id" text NOT NULL,
	"posted" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "channel_threads_room_ts" UNIQUE("channel_id","room","ts")
);
--> statement-breakpoint
CREATE TABLE "channels" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"kind" "channel_kind" NOT NULL,
	"team_id" text NOT NULL,
	"team_name" text NOT NULL,
	"app_id" text NOT NULL,
	"bot_user_id" text NOT NULL,
	"room" text NOT NULL,
	"bot_token" text NOT NULL,
	"signing_secret" text NOT NULL,
	"created_by" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "channels_team_app_room" UNIQUE("team_id","app_id","room")
);
--> statement-breakpoint
ALTER TABLE "channel_tasks" ADD CONSTRAINT "channel_tasks_channel_id_channels_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_tasks" ADD CONSTRAINT "channel_tasks_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_threads" ADD CONSTRAINT "channel_threads_channel_id_channels_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_threads" ADD CONSTRAINT "channel_threads_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channels" ADD CONSTRAINT "channels_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channels" ADD CONSTRAINT "channels_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "channel_tasks_due" ON "channel_tasks" USING btree ("due_at") WHERE "channel_tasks"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "channel_tasks_session_id" ON "channel_tasks" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "channel_tasks_created_at" ON "channel_tasks" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "channel_threads_session_id" ON "channel_threads" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "channels_project_id" ON "channels" USING btree ("project_id");