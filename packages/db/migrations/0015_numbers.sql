-- The release before can run on it: it knows none of these tables, and leaves them as they are.

-- Who runs the mail of well-known domains. What is not here is its own provider's, and counted with the others.
create table provider_domains (
  domain text collate "C" primary key,
  provider text collate "C" not null
);
insert into provider_domains (domain, provider)
select domain, provider from (values
  ('google', '{gmail.com,googlemail.com}'::text[]),
  ('microsoft', '{outlook.com,outlook.de,outlook.fr,outlook.es,outlook.it,outlook.jp,outlook.com.br,hotmail.com,hotmail.co.uk,hotmail.de,hotmail.fr,hotmail.es,hotmail.it,hotmail.com.br,hotmail.nl,live.com,live.co.uk,live.de,live.fr,live.nl,live.it,live.com.au,msn.com,passport.com}'),
  ('yahoo', '{yahoo.com,yahoo.co.uk,yahoo.de,yahoo.fr,yahoo.es,yahoo.it,yahoo.ca,yahoo.co.in,yahoo.in,yahoo.com.br,yahoo.com.au,yahoo.com.mx,yahoo.com.ar,yahoo.com.ph,yahoo.com.sg,yahoo.com.tw,yahoo.com.hk,ymail.com,rocketmail.com,aol.com,aol.co.uk,aol.de,aim.com,verizon.net,att.net,sbcglobal.net,bellsouth.net}'),
  ('apple', '{icloud.com,me.com,mac.com}'),
  ('proton', '{proton.me,protonmail.com,protonmail.ch,pm.me}'),
  ('fastmail', '{fastmail.com,fastmail.fm}'),
  ('zoho', '{zoho.com,zohomail.com,zoho.eu}'),
  ('gmx', '{gmx.com,gmx.de,gmx.net,gmx.at,gmx.ch,gmx.fr,gmx.us,web.de,mail.com,email.com,1und1.de,online.de}'),
  ('t-online', '{t-online.de,magenta.de}'),
  ('freenet', '{freenet.de}'),
  ('orange', '{orange.fr,wanadoo.fr}'),
  ('free', '{free.fr}'),
  ('laposte', '{laposte.net}'),
  ('sfr', '{sfr.fr,neuf.fr,cegetel.net}'),
  ('libero', '{libero.it,virgilio.it,iol.it,inwind.it}'),
  ('comcast', '{comcast.net}'),
  ('charter', '{charter.net,spectrum.net,roadrunner.com,rr.com}'),
  ('cox', '{cox.net}'),
  ('bt', '{btinternet.com,btopenworld.com}'),
  ('sky', '{sky.com}'),
  ('virgin', '{virginmedia.com,ntlworld.com,blueyonder.co.uk}'),
  ('talktalk', '{talktalk.net,tiscali.co.uk}'),
  ('yandex', '{yandex.ru,yandex.com,ya.ru,yandex.by,yandex.kz,yandex.ua,narod.ru}'),
  ('mail.ru', '{mail.ru,inbox.ru,list.ru,bk.ru,internet.ru}'),
  ('rambler', '{rambler.ru,lenta.ru,autorambler.ru,ro.ru}'),
  ('seznam', '{seznam.cz,email.cz,post.cz}'),
  ('onet', '{onet.pl,op.pl,vp.pl,onet.eu,poczta.onet.pl}'),
  ('wp', '{wp.pl,o2.pl,tlen.pl}'),
  ('interia', '{interia.pl,interia.eu,poczta.fm}'),
  ('uol', '{uol.com.br,bol.com.br}'),
  ('terra', '{terra.com.br,terra.com}'),
  ('tencent', '{qq.com,foxmail.com,vip.qq.com}'),
  ('netease', '{163.com,126.com,yeah.net,188.com}'),
  ('sina', '{sina.com,sina.cn,vip.sina.com}'),
  ('naver', '{naver.com}'),
  ('daum', '{daum.net,hanmail.net,kakao.com}'),
  ('docomo', '{docomo.ne.jp}'),
  ('au', '{ezweb.ne.jp,au.com}'),
  ('softbank', '{softbank.ne.jp,i.softbank.jp}'),
  ('rediff', '{rediffmail.com}'),
  ('bluewin', '{bluewin.ch,hispeed.ch}'),
  ('telenet', '{telenet.be}'),
  ('proximus', '{skynet.be,proximus.be}'),
  ('kpn', '{kpnmail.nl,planet.nl,hetnet.nl,xs4all.nl}'),
  ('ziggo', '{ziggo.nl,home.nl,upcmail.nl}'),
  ('telia', '{telia.com}'),
  ('rogers', '{rogers.com}'),
  ('shaw', '{shaw.ca}'),
  ('bell', '{bell.net,sympatico.ca}'),
  ('telstra', '{bigpond.com,bigpond.net.au}'),
  ('optus', '{optusnet.com.au}')
) as known (provider, domains) cross join lateral unnest(domains) as d (domain);

-- How far a roll-up has come. What lies before final_until will not change any more; what lies between the two has
-- been computed once and is computed again when late commits must have come.
create table roll_ups (
  name text collate "C" primary key,
  early_until timestamptz not null,
  final_until timestamptz not null
);
insert into roll_ups (name, early_until, final_until)
select name, date_trunc('minute', clock_now()), date_trunc('minute', clock_now())
from unnest('{stats,failures}'::text[]) as n (name);

-- What happened in a minute, by recipient. An empty workspace stands for the whole instance. Of each dimension the
-- busiest keys of the minute have rows of their own, the others share the one with the empty key. The two histograms
-- are objects from a bin to a count; the bins are those of stats/mail-times.ts.
create table stat_minutes (
  workspace_id text collate "C" not null,
  dimension text collate "C" not null check (dimension in ('none', 'domain', 'tag', 'provider', 'api_key')),
  at timestamptz not null,
  key text collate "C" not null,
  accepted integer not null,
  delivered integer not null,
  bounced integer not null,
  deferred integer not null,
  failed integer not null,
  complained integer not null,
  suppressed integer not null,
  canceled integer not null,
  first_attempt jsonb,
  delivery jsonb,
  primary key (workspace_id, dimension, at, key)
);
-- Serves what is computed anew and what is forgotten.
create index stat_minutes_at on stat_minutes (at);
create table stat_hours (like stat_minutes including all);
create table stat_days (like stat_minutes including all);

-- When mail of a kind was last delivered: what a backlog is read beside.
create table last_successes (
  dimension text collate "C" not null,
  key text collate "C" not null,
  workspace_id text collate "C" not null,
  at timestamptz not null,
  primary key (dimension, key, workspace_id)
);
create index last_successes_at on last_successes (at);

-- Failures that read alike, by the signature that failures/signature.ts makes of them.
create table failure_groups (
  workspace_id text collate "C" not null,
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('smtp', 'webhook', 'job', 'dns')),
  signature text not null,
  code integer,
  enhanced_code text,
  sample text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (workspace_id, id)
);
create index failure_groups_last_seen on failure_groups (last_seen_at);

-- How often in a minute, and where. The destinations of a group that are hit most have rows of their own, the others
-- share the one with the empty destination.
create table failure_minutes (
  workspace_id text collate "C" not null,
  kind text collate "C" not null,
  at timestamptz not null,
  group_id text collate "C" not null,
  destination text collate "C" not null,
  count integer not null,
  primary key (workspace_id, kind, at, group_id, destination)
);
create index failure_minutes_at on failure_minutes (at);
create table failure_hours (like failure_minutes including all);

-- Posts to webhooks that failed, by the time of their last attempt. What goes through at once never stands in it.
create index webhook_deliveries_failing on webhook_deliveries (last_attempt_at)
  where last_attempt_at is not null and (response_status is null or response_status < 200 or response_status > 299);

-- Open recipients as a chore has last counted them. Unlogged: after a crash they are counted again.
create unlogged table backlog_rows (
  workspace_id text collate "C" not null,
  dimension text collate "C" not null,
  key text collate "C" not null,
  total integer not null,
  counts integer[] not null,
  oldest_at timestamptz not null,
  -- The newest message that has been answered to, and the oldest that waits.
  answered_message_id text collate "C",
  oldest_message_id text collate "C",
  primary key (workspace_id, dimension, key)
);
-- Recipients alone tell of destinations; the rest is told by their messages, which takes longer and is done less often.
create unlogged table backlog_snapshots (
  part text collate "C" primary key check (part in ('recipients', 'messages')),
  measured_at timestamptz,
  -- Whoever finds this in the past counts next, and moves it.
  next_at timestamptz not null
);
