// Phrases that classify a returned message by author and kind before its reason is looked up.

const oneOf = (words: readonly string[], flags = 'iu') => new RegExp(words.join('|'), flags);
const beginsWithOneOf = (words: readonly string[]) =>
  // The words may follow reply prefixes, brackets and spaces.
  new RegExp(`^(?:(?:re|aw|sv|antw|rv|tr|fw|fwd|回复|答复) ?[:：] ?|[\\s"'[*(【])*(?:${words.join('|')})`, 'iu');

/** Names that mail systems use for themselves in From and Return-Path. */
export const MAIL_SYSTEM = oneOf([
  'mailer[-_. ]?daemon',
  'postmaster',
  'mail[-_. ]?deliver',
  'deliver(?:y|ies)[-_. ]?(?:sub)?(?:system|status|agent|service|failure|report|notification|daemon)',
  'mail[-_. ]?(?:system|server|gateway|transport|administrat|admin\\b|router|engine|service)',
  'e-?mail (?:delivery|gateway|system|server)',
  'message(?:s)?[-_ ]?(?:delivery|gateway|transfer)',
  '(?:system|systems)[-_ ]?(?:administrat|attendant|mail)',
  'systemadministrat',
  'administra\\S+ (?:de[l]? |di |du )?(?:sistema|système)',
  'microsoft exchange',
  'microsoftexchange[0-9a-f]',
  'bounce(?:s|d|r)?\\b',
  'double-bounce',
  'undeliver',
  'non-?delivery',
  '\\bmta\\b',
  '\\bdaemon\\b',
  'mdaemon',
  'interscan',
  'mailmarshal',
  'mailfoundry',
  'internet mail',
  '@(?:email-bounces\\.)?amazonses\\.com',
  '@sns\\.amazonaws\\.com',
  'системный администратор',
  'почтовая система',
  '系统(?:管理员|退信)',
  '邮件系统',
  'メール(?:配信|サーバ|システム)',
]);

/** Subjects that report a failure. */
export const FAILURE_SUBJECT = oneOf([
  'undeliver(?:ed|able)',
  'unable to deliver',
  'deliver\\S* (?:has )?(?:failed|failure|error|problem|impossible|unsuccessful|incomplete)',
  'delivery (?:status )?(?:notif|report)',
  'message status',
  'mail status',
  'fail(?:ed|ure|ing)?\\b.{0,20}\\b(?:deliver|mail|message|notice|notif|post)',
  '(?:mail|message|notice|delivery)\\b.{0,20}\\bfail',
  '\\berror\\b.{0,30}\\b(?:deliver|mail|send|sent)',
  '(?:mail|message|smtp) (?:delivery )?(?:error|problem|trouble|rejected|refused|blocked|bounced?|system error|denied)',
  'returned (?:mail|message|to sender|e-?mail)',
  'return(?:ed|ing) (?:mail|message|to)',
  'non-?\\s?deliver',
  'n[eo]t (?:be(?:en)? )?(?:deliver|sent)',
  "(?:could|can|was|were|has|is)(?: ?n[o']t|n.t) (?:be |been )?(?:deliver|sen[dt]|process)",
  '\\bcannot (?:be )?(?:deliver|send)',
  '\\bbounc(?:e|ed|ing)\\b',
  'you sent blocked|message blocked|blocked (?:message|mail|by)',
  'rejected (?:mail|message|posting|post)',
  '(?:mail|message|posting|post) (?:to .{1,80} )?rejected',
  'not (?:a )?member',
  'user unknown|unknown user|no such user|address not found',
  'quota (?:exceeded|warning)|mailbox (?:is )?full|over ?quota',
  '\\bndn\\b|\\bndr\\b|\\bdsn\\b',
  'unzustellbar|nicht zugestellt|nicht (?:ausgeliefert|übermittelt)|zustellung|rückläufer|fehlgeschlagen',
  'non remis|non distribu|échec|echec|impossible de remettre|pas pu être (?:remis|envoyé)',
  'no (?:se (?:puede|pudo|ha podido) )?entrega|no entregad|error de entrega|devuelto|rechazado',
  'non recapit|mancat[oa] (?:consegna|recapito)|impossibile (?:consegnare|recapitare|inviare)|mancata',
  'não (?:foi )?(?:entreg|possível)|falha (?:na|no|de) (?:entrega|envio)|nao entregue',
  'onbestelbaar|niet (?:bezorgd|afgeleverd|bestelbaar)',
  'недостав|не доставлен|не удалось доставить|не может быть доставлен|возврат|ошибк\\S+ доставк',
  'niedostarcz|nie (?:można|udało|został\\S* dostar)',
  'nelze doručit|nedoručit|olevererbar|kan inte leverera|ikke lever|kunne ikke levere|toimitus\\S* epäonnist|kézbesíthetetlen|iletilemedi|teslim edilemedi',
  '退信|退回|未送达|未能送达|无法(?:投递|送达|发送)|投递失败|发送失败|傳遞失敗|無法傳遞|未傳遞',
  '(?:送信|配信|配送|送達)(?:で|が|は|を)?(?:き|不|失|エラー|未|することができ|されません)|不達|エラーメール|届けできません|返送',
  '반송|전송 ?(?:실패|불가|할 수)|배달되지|배달 실패',
]);

/** Subject prefixes of out-of-office and other automatic replies, in the languages of the major clients. */
export const ABSENCE_SUBJECT = beginsWithOneOf([
  'auto(?:mat(?:ic|ed|isk|isch|ische|yczna|ická|ikus)?)?[-_ ]?(?:repl(?:y|ies)|respon[sd]|answer|message|notif|acknowledg|antwort|svar|odpowied|odpověď)',
  'automat\\S* (?:repl|respon|answer|antwort|antwoord|antwort|svar|vastaus|odpow|odpov|v[aá]lasz|r[aă]spuns|yanıt|ответ)',
  'auto ?:',
  'odpowied\\S* automat',
  // The subject prefixes that Exchange and the major clients use in their other languages.
  'automa+t\\S* (?:vastaus|od(?:g|po)\\S+|atsaky\\S+)|automaatvastus|automātisk\\S* atbilde|samodejni odgovor|sjálfvirkt svar',
  'r[aă]spuns automat|resposta automàtica|erantzun automatikoa|balasan (?:otomatis|automatik)|jawapan automatik|trả lời tự động',
  'автоматич\\S+ (?:відповідь|отговор|одговор)|аутоматски одговор|автоматты жауап',
  'תשובה אוטומטית|מענה אוטומטי|(?:ال)?رد (?:ال)?تلقائي|پاسخ خودکار|(?:การ)?ตอบกลับอัตโนมัติ|स्वत|स्वचालित',
  'autoreply|autoresponse|autosvar|autoantwort|autoodpowiedź|autoreponse',
  'out[- ]of[- ](?:the )?office|\\booo\\b|out of town|not in the office|away from (?:the |my )?(?:office|desk|mail|e-?mail)',
  '(?:i am|i.m|is|we are|currently) (?:away|out|on (?:holiday|vacation|leave))',
  'away\\b|vacation|on (?:vacation|leave|holiday|annual leave|maternity|parental)|(?:annual|maternity|parental|sick) leave|holiday (?:notice|reply|message)|absen[ct]',
  'abwesen|urlaub|nicht im (?:büro|hause)|ich bin (?:nicht|derzeit|im)|eingangsbestätigung|außer haus',
  'réponse automatique|reponse automatique|r.ponse d.absence|absence du bureau|absent|en congés?|message d.absence',
  'respuesta autom|fuera de (?:la )?oficina|ausencia|ausente|de vacaciones|vacaciones',
  'risposta automatica|fuori (?:ufficio|sede)|assenza|assente|in ferie|ferie',
  'resposta autom|fora do escrit|ausência|de férias|férias',
  'afwezig|niet aanwezig|buiten kantoor|automatisch (?:antwoord|bericht)',
  'frånvar|fravær|poissa|ude af kontoret|semester',
  'nieobecno|poza biurem|mimo kancelář|irodán kívül|în afara birou|ofis dışında|otomatik yanıt|εκτός γραφείου|αυτόματη απάντηση',
  'автоответ|автоматическ\\S+ ответ|нет на (?:рабочем )?месте|в отпуске|отсутств|відсутн|автовідповід',
  '自動(?:返信|応答|回覆|回复|答复)|自动(?:回复|答复|應答)|不在|休暇|外出|休假|不在办公室|外出中',
  '자동 ?(?:회신|응답|답장)|부재|휴가',
]);

/** Subject prefixes with which help desks and list servers acknowledge a message. */
export const ACKNOWLEDGEMENT_SUBJECT = beginsWithOneOf([
  'thank(?:s| you) (?:for|you)',
  'we(?:.ve| have)? (?:have )?received your',
  'your (?:message|request|inquiry|enquiry|e-?mail|ticket|case|mail)\\b.{0,40}\\b(?:received|awaits|is being|created|registered)',
  '(?:ticket|case|request|incident)(?: id)? ?[#[:]',
  '#\\d{3,}',
  '(?:please )?confirm\\b|confirmation (?:required|of|request)|(?:e-?mail |sender |address )?verification|action required',
  '(?:new )?(?:support )?(?:ticket|case|request) (?:received|created|opened|registered)',
  'receipt|acknowledg|ihre (?:anfrage|nachricht|e-?mail)|vielen dank|danke',
  'welcome to|subscri|unsubscri|ご連絡|お問い合わせ|受け付け',
]);

/** A list server holds the message for its moderator: the message is neither lost nor late. */
export const KEPT_FOR_MODERATOR = oneOf([
  'await(?:s|ing) (?:list )?(?:moderator|moderation|approval)',
  'being held (?:until|for)',
  'held for (?:approval|moderation|review)',
  'forwarded to the (?:list )?moderator',
]);

/** Sentences of out-of-office replies that have no marker, or that reuse the subject of the message they reply to. */
export const ABSENCE_PATTERN = oneOf([
  'out of (?:the )?office',
  '(?:on|for) (?:vacation|annual leave|sick leave|holidays?|maternity leave|parental leave|paternity leave|a business trip)',
  '\\bi(?: am|.m| will be| shall be) (?:currently |presently |now )?(?:away|on leave|travel|out\\b|unavailable|not in)',
  'will (?:be back|return|reply|respond|answer|get back)(?: to you| to the office| on| as soon| when| upon| after)',
  'limited access to (?:my )?(?:e-?mail|mail)',
  'in my absence|during my absence',
  'this is an auto(?:mat(?:ic|ed|ically generated))?[- ]?(?:repl|respon|answer)',
  'abwesend|nicht im (?:büro|hause|haus)|im urlaub|in meiner abwesenheit|nicht erreichbar|bin (?:ich )?(?:wieder|ab|vom|bis)',
  'en (?:congés?|vacances|déplacement)|absente? (?:du bureau|jusqu|du)|de retour le|mon absence',
  'fuera de la oficina|de vacaciones|estaré ausente|mi ausencia|regreso el',
  'fuori (?:ufficio|sede)|in ferie|sarò assente|mia assenza',
  'fora do escritório|de férias|estarei ausente|minha ausência',
  'buiten kantoor|afwezig|met vakantie|op vakantie',
  'på semester|ikke på kontoret|inte på kontoret|na urlopie|poza biurem|na dovolené|szabadságon|izindeyim|izinde',
  'в отпуске|буду отсутствовать|отсутствую|в командировке',
  '休暇(?:を|中|の)|不在(?:に|の|と|です)|出張中|休假|不在办公室|外出中|出差',
  '부재중|휴가 ?중|자리를 비',
]);

/** Sentences of challenge-response systems, which require senders to prove that they are people. */
export const CHALLENGE_PATTERN = oneOf([
  '(?:click|follow|visit|reply|answer).{0,120}(?:to (?:verify|confirm|prove|authenticate|deliver|release|approve|be added)|verification|so that (?:your|the) (?:message|mail))',
  '(?:confirm|verify) (?:that )?you(?:r (?:message|address|mail|e-?mail)| are| sent)',
  'spam ?arrest|boxbe|challenge[-/ ]response|tmda\\b|guest list',
]);

/** Statements that the message is still being delivered. */
export const DELAY_PATTERN = oneOf([
  'not yet (?:been )?deliver',
  'has(?:n.t| not) been delivered yet',
  'will be (?:re-?tried|retransmitted|resent|attempted)',
  'will (?:continue|keep|go on) (?:to )?(?:be )?(?:try|retry|attempt|deliver)',
  'will (?:try|retry)(?: again| for| until| to)',
  'attempts? (?:to deliver \\S+ (?:message|mail) )?will (?:continue|be (?:made|repeated|continued))',
  'delivery will (?:continue|be attempted)',
  'gmail will retry|server will (?:keep|continue|retry)',
  '(?:need|have|required) (?:not|to not)? ?(?:to )?re-?send|not need to (?:re-?send|send)|need not re-?send|do not re-?send',
  'this is a warning|warning (?:message )?only|warning only',
  'still (?:being )?(?:re)?tr(?:ied|ying)|still (?:in|on) the (?:mail )?queue|remains? (?:in|on) the (?:mail )?queue|is still (?:queued|waiting|pending)',
  'delivery (?:is|has been|was) (?:temporarily )?(?:delayed|deferred|postponed)',
  'has (?:been )?(?:temporarily )?delayed|temporarily (?:deferred|delayed)|delivery delay',
  'no action is required|transient (?:delivery|non-?fatal)|delivery delayed',
  'wird (?:weiterhin|weiter|erneut) (?:versucht|zugestellt)|noch nicht (?:zugestellt|ausgeliefert)|verzöger',
  'pas encore (?:été )?(?:remis|livré|distribué)|a été retardé|nouvelle tentative|continuera',
  'aún no se (?:ha )?entrega|se ha retrasado|volver\\S+ a intentar|seguir\\S+ intentando',
  'non è (?:stato )?ancora|verrà ritentat|in ritardo',
  'ainda não foi entregue|foi adiad|continuará tentando|atrasad',
  'nog niet (?:bezorgd|afgeleverd)|vertraagd|wordt opnieuw geprobeerd',
  'пока не (?:доставлен|удалось)|задержан|попытк\\S+ (?:доставки )?(?:будут|продолж)|ещё не доставлен|еще не доставлен',
  '(?:再送|再度送信|送信|配信|配送)(?:を|が|は)?(?:続け|試み|継続|遅)|遅延|再試行(?:し|を)|まだ(?:配信|送信)',
  // The text may also ask the sender to try again later. Only a statement that the server itself will retry counts.
  '延迟|(?:将|會|会|將)[^。，]{0,8}(?:重试|再试|重試|再試)|继续(?:尝试|重试)|尚未(?:送达|投递)|將繼續|延遲',
]);

/** Subjects that report a delay. */
export const DELAY_SUBJECT = oneOf([
  '\\bdelay',
  '\\bwarning\\b',
  'still being retried',
  'deferred|temporar|transient|postponed|in queue',
  'verzöger|retard|retras|ritard|atras|vertraag|försen|forsink|задерж|opóźn|gecik',
  '遅延|延迟|延遲|지연',
]);

/** Statements that end a delay: delivery was given up. */
export const GIVEN_UP = oneOf([
  'giv(?:ing|en) up|gave up|has been abandoned|abandoned',
  '(?:this is a |been a )?permanent (?:error|failure|fatal)|failed permanently|permanently (?:failed|rejected|undeliverable)',
  'will not (?:be (?:re-?tried|attempted|resent)|continue|retry|try)',
  'no (?:further|more) (?:delivery )?attempts|not be retried|stopped trying|no longer be',
  'removed from the (?:mail )?queue|(?:has|have) been (?:deleted|removed) from',
  'retry (?:timeout|time(?:out)? (?:was )?exceeded)|too long in queue|(?:message|delivery time|queue (?:lifetime|time)) (?:has )?(?:expired|exceeded)',
  'endgültig|définitivement|definitivamente|definitief',
]);

/** Statements that the message could not be delivered at all, as opposed to not yet. */
export const NOT_DELIVERED = oneOf([
  'could ?n(?:ot|.t) be (?:deliver|sent)',
  '(?:was|were|is|are)(?: not|n.t) (?:able to be )?delivered',
  'undeliverable|unable to (?:be )?deliver|delivery (?:has )?failed|failed to deliver|cannot be delivered|not deliverable',
]);

/** Subjects of success reports and receipts. */
export const SUCCESS_SUBJECT = beginsWithOneOf([
  'success|(?:delivered|relayed|expanded|read|gelesen|lu|leído|letto|lida|gelezen|прочитано|прочтено|開封済み|已读|已讀|읽음|zugestellt|geliefert|übermittelt)(?: ?[:：]|$)',
  'delivery status notification \\((?:relay|success|delivered|expan)',
  '(?:return|read|delivery) receipt|delivery confirmation|successful (?:mail )?deliver|message delivered|lesebestätigung|confirmation de (?:lecture|remise)|confirmación de (?:lectura|entrega)|conferma di (?:lettura|recapito)|accusé de',
  '(?:not read|ungelesen|non lu|deleted|gelöscht) ?:',
]);
export const SUCCESS_PATTERN = oneOf([
  '(?:was|were|has been|have been) (?:successfully )?(?:delivered (?:to|successfully)|relayed to|displayed|received by the recipient|accepted for delivery)',
  'successfully (?:delivered|relayed|sent)',
  'delivery (?:to .{1,300} )?(?:was|is) (?:successful|complete\\b)',
  'expect no further notif',
  'wurde erfolgreich|a été remis|(?<!no )se ha entregado|(?<!non )è stato (?:recapitato|consegnato)|(?<!n[ãa]o )foi entregue (?:a|com)|正常に配信',
]);

/**
 * Sentences in which a person's mailbox says that the person has left or has a new address, in place of a quoted server
 * reply.
 */
export const LEFT_PATTERN = oneOf([
  'my (?:new )?(?:e-?mail )?address (?:is|has|will)|new (?:e-?mail )?address (?:is|will be)',
  'no longer (?:with|works?|working|employed|part of)|has left (?:the |our )?(?:company|organi[sz]ation|firm)',
  'nicht mehr (?:im unternehmen|bei uns|für uns|tätig)|neue (?:e-?mail-?)?adresse|ne (?:travaille|fait) plus|nouvelle adresse',
  'ya no (?:trabaja|forma)|nueva direcci[oó]n|non lavora più|nuovo indirizzo|não trabalha mais|niet (?:langer|meer) werkzaam',
  'больше не работает|已离职|已離職|退職|퇴사',
]);

/** RFC 7489 section 7.2.1.1 and RFC 8460 section 5.3: the subject of aggregate reports. */
export const AGGREGATE_SUBJECT = /^\s*(?:\[[^\]]*\]\s*)?report[- ]?domain:\s*\S+.*\bsubmitter:\s*\S+/i;
