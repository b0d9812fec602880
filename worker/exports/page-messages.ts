/** The words that an archive's index.html says itself. Another language is one more entry in LANGUAGES. */
const en = {
  noScript: 'This lesson needs JavaScript. Switch it on in your browser, and load the page again.',
  notUnpacked: 'If the lesson does not appear: unpack the whole archive, and open index.html in its folder.',
  credits: 'Credits',
};

export type PageWords = typeof en;

const es: PageWords = {
  noScript: 'Esta lección necesita JavaScript. Actívalo en tu navegador y vuelve a cargar la página.',
  notUnpacked: 'Si la lección no aparece, descomprime todo el archivo y abre index.html en su carpeta.',
  credits: 'Créditos',
};

const fr: PageWords = {
  noScript: 'Cette leçon a besoin de JavaScript. Activez-le dans votre navigateur, puis rechargez la page.',
  notUnpacked:
    'Si la leçon ne s’affiche pas, décompressez toute l’archive, puis ouvrez index.html dans son dossier.',
  credits: 'Crédits',
};

const de: PageWords = {
  noScript: 'Diese Lektion braucht JavaScript. Schalte es im Browser ein und lade die Seite neu.',
  notUnpacked:
    'Wenn die Lektion nicht erscheint: Entpacke das ganze Archiv und öffne index.html in seinem Ordner.',
  credits: 'Nachweise',
};

const pt: PageWords = {
  noScript: 'Esta lição precisa de JavaScript. Ative-o no navegador e recarregue a página.',
  notUnpacked: 'Se a lição não aparecer, descompacte todo o arquivo e abra index.html na pasta dele.',
  credits: 'Créditos',
};

const ar: PageWords = {
  noScript: 'يحتاج هذا الدرس إلى JavaScript. فعّله في متصفحك ثم أعد تحميل الصفحة.',
  notUnpacked: 'إذا لم يظهر الدرس، ففك ضغط الأرشيف كله ثم افتح index.html في مجلده.',
  credits: 'الحقوق والمصادر',
};

const zh: PageWords = {
  noScript: '本课程需要 JavaScript。请在浏览器中启用它，然后重新加载页面。',
  notUnpacked: '如果课程没有显示，请解压整个压缩包，然后打开其文件夹中的 index.html。',
  credits: '致谢与来源',
};

const LANGUAGES = new Map<string, PageWords>(Object.entries({ en, es, fr, de, pt, ar, zh }));

/**
 * The words for a lesson's language; English where there are none.
 *
 * @param language a BCP 47 tag
 */
export function pageWords(language: string): { words: PageWords; language: string } {
  const [base = ''] = language.toLowerCase().split('-');
  const words = LANGUAGES.get(base);
  return words === undefined ? { words: en, language: 'en' } : { words, language };
}
