# api/v1/gb/GB0170.md is the text of gb/GB0170.md, without the facts. The build without Ruby adds it in
# sitegen/jekyll_source.py.
class PlainText < Jekyll::Generator
  class TextOfPage < Jekyll::StaticFile
    def initialize(site, page)
      super(site, site.source, "api/v1/gb", page.name)
      @text = page.content.sub(/\A\n+/, "")
    end

    def write(destination)
      path = destination(destination)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, @text)
      true
    end
  end

  def generate(site)
    of_ids = site.pages.select { |page| page.data["gb"] }
    site.static_files.concat(of_ids.map { |page| TextOfPage.new(site, page) })
  end
end
